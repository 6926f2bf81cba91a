CREATE TABLE parcel (
  id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  buyer_uid BIGINT NOT NULL,
  note VARCHAR(20),
  KEY (buyer_uid)
) COMMENT 'locus: owner=buyer_uid';
