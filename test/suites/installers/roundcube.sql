-- As Roundcube sends them.
SET NAMES 'utf8mb4';
SELECT `value` FROM `system` WHERE `name` = 'roundcube-version';
INSERT INTO `users` (`created`, `last_login`, `username`, `mail_host`, `language`) VALUES ('2026-01-02 03:04:05', '2026-01-02 03:04:05', 'anna', 'localhost', 'en_US');
SELECT LAST_INSERT_ID();
INSERT INTO `identities` (`user_id`, `del`, `standard`, `changed`, `name`, `email`) VALUES (1, 0, 1, '2026-01-02 03:04:05', 'Anna', 'anna@example.org');
INSERT INTO `session` (`sess_id`, `vars`, `ip`, `changed`) VALUES ('s1', 'bGFuZ3VhZ2U=', '127.0.0.1', '2026-01-02 03:04:05');
UPDATE `session` SET `changed` = '2026-01-02 03:05:05', `vars` = 'dXNlcg==' WHERE `sess_id` = 's1';
INSERT INTO `contacts` (`user_id`, `changed`, `del`, `name`, `email`, `words`) VALUES (1, '2026-01-02 03:04:05', 0, 'Böb', 'bob@example.org', ' bob example org ');
SELECT * FROM `contacts` AS c WHERE c.`del` <> 1 AND c.`user_id` = 1 AND (c.`words` LIKE '% bob%' OR c.`name` LIKE 'B%') ORDER BY COALESCE(NULLIF(c.`name`, ''), c.`email`) LIMIT 0, 50;
INSERT INTO `cache_index` (`user_id`, `mailbox`, `expires`, `valid`, `data`) VALUES (1, 'INBOX', '2026-02-01 00:00:00', 1, 'a') ON DUPLICATE KEY UPDATE `data` = VALUES(`data`), `valid` = 0;
INSERT INTO `cache_index` (`user_id`, `mailbox`, `expires`, `valid`, `data`) VALUES (1, 'INBOX', '2026-02-01 00:00:00', 1, 'b') ON DUPLICATE KEY UPDATE `data` = VALUES(`data`), `valid` = 0;
DELETE FROM `users` WHERE `username` = 'anna';
SELECT COUNT(*) FROM `contacts`;
