-- As Zabbix' server and front end send them.
SET NAMES utf8mb4;
SELECT mandatory, optional FROM dbversion;
BEGIN;
SELECT nextid FROM ids WHERE table_name = 'hosts' AND field_name = 'hostid' FOR UPDATE;
INSERT INTO ids (table_name, field_name, nextid) VALUES ('hosts', 'hostid', 99001);
INSERT INTO hosts (hostid, host, name, status, description) VALUES (99001, 'web1', 'web1', 0, '');
INSERT INTO hosts_groups (hostgroupid, hostid, groupid) VALUES (99001, 99001, 2);
INSERT INTO interface (interfaceid, hostid, main, type, useip, ip, dns, port) VALUES (99001, 99001, 1, 1, 1, '127.0.0.1', '', '10050');
INSERT INTO items (itemid, type, hostid, interfaceid, name, key_, delay, history, trends, value_type, params, description, posts, headers) VALUES (99001, 0, 99001, 99001, 'CPU', 'system.cpu.load', '1m', '7d', '365d', 0, '', '', '', '');
UPDATE ids SET nextid = nextid + 1 WHERE table_name = 'hosts' AND field_name = 'hostid';
COMMIT;
INSERT INTO history (itemid, clock, ns, value) VALUES (99001, 1767323045, 1, 0.25), (99001, 1767323105, 1, 0.5);
INSERT INTO trends (itemid, clock, num, value_min, value_avg, value_max) VALUES (99001, 1767322800, 2, 0.25, 0.375, 0.5);
SELECT h.host, i.key_, AVG(v.value) FROM history v JOIN items i ON i.itemid = v.itemid JOIN hosts h ON h.hostid = i.hostid GROUP BY h.host, i.key_;
SELECT table_name, operation, COUNT(*) FROM changelog c JOIN (SELECT 1 object, 'host' table_name UNION SELECT 3, 'item') n ON n.object = c.object GROUP BY table_name, operation ORDER BY 1, 2;
DELETE FROM hosts WHERE hostid = 99001;
SELECT COUNT(*) FROM items WHERE itemid = 99001;
