-- As root on each shard's first server, once roles.sql was run there: the account of the proxies, and the tables of cluster.yaml.
-- PASSWORD is the content of secrets/shards/s0, s1 or s2.
CREATE USER 'locus'@'%' IDENTIFIED BY 'PASSWORD' REQUIRE SSL;
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES, CREATE TEMPORARY TABLES, LOCK TABLES, CREATE VIEW, SHOW VIEW, TRIGGER, EVENT ON *.* TO 'locus'@'%';
-- Moves read the log, and see transactions.
GRANT PROCESS, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO 'locus'@'%';
-- MySQL alone: branches in doubt.
/*!80000 GRANT XA_RECOVER_ADMIN ON *.* TO 'locus'@'%' */;
CREATE DATABASE shop DEFAULT CHARACTER SET utf8mb4;
CREATE TABLE shop.test_order (
  order_id BIGINT NOT NULL,
  order_no BIGINT DEFAULT NULL,
  buyer_uid BIGINT NOT NULL,
  amount DECIMAL(12,2) NOT NULL DEFAULT 0,
  status VARCHAR(16) NOT NULL DEFAULT 'new',
  version BIGINT NOT NULL DEFAULT 0,
  created_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  PRIMARY KEY (order_id), KEY order_no (order_no), KEY buyer_uid (buyer_uid)
);
CREATE TABLE shop.order_item (
  item_id BIGINT NOT NULL,
  order_id BIGINT NOT NULL,
  product_id BIGINT NOT NULL,
  quantity INT NOT NULL DEFAULT 1,
  price DECIMAL(12,2) NOT NULL DEFAULT 0,
  PRIMARY KEY (item_id), KEY order_id (order_id)
);
CREATE TABLE shop.product (
  product_id BIGINT NOT NULL,
  name VARCHAR(64) NOT NULL,
  price DECIMAL(12,2) NOT NULL DEFAULT 0,
  PRIMARY KEY (product_id)
);
-- On s0 alone: it is of kind single.
CREATE TABLE shop.setting (
  name VARCHAR(64) NOT NULL,
  value VARCHAR(1024) NOT NULL DEFAULT '',
  PRIMARY KEY (name)
);
