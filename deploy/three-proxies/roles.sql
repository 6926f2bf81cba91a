-- As root on each server of a shard, before anything else: the account by which its servers change roles and follow each other, on each by itself.
-- ROLES is the content of secrets/shards/s0-admin, s1-admin or s2-admin.
SET SESSION sql_log_bin = 0;
CREATE USER IF NOT EXISTS 'locus_admin'@'%' IDENTIFIED BY 'ROLES' REQUIRE SSL;
GRANT PROCESS, RELOAD, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO 'locus_admin'@'%';
-- MySQL alone.
/*!80000 GRANT SYSTEM_VARIABLES_ADMIN, REPLICATION_SLAVE_ADMIN, CONNECTION_ADMIN, XA_RECOVER_ADMIN, BACKUP_ADMIN, CLONE_ADMIN ON *.* TO 'locus_admin'@'%' */;
-- MariaDB alone.
/*M!100502 GRANT READ_ONLY ADMIN, REPLICATION SLAVE ADMIN, REPLICATION MASTER ADMIN, REPLICA MONITOR, CONNECTION ADMIN, BINLOG ADMIN, BINLOG REPLAY ON *.* TO 'locus_admin'@'%' */;
SET SESSION sql_log_bin = 1;
