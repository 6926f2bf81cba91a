// Package row keeps counters in a MySQL table with one row per tag. It serves as a durable store of segments, and as a
// generator that takes each number from there.
//
// It owns the table (its columns and statements) and its cached list of tags. It never opens a connection; a *sql.DB is
// passed in. It never retries a statement that may have had an effect.
//
//	CREATE TABLE locus_ids (
//	  biz_tag     VARBINARY(128) NOT NULL PRIMARY KEY,
//	  max_id      BIGINT UNSIGNED NOT NULL,  -- numbers up to this one are granted
//	  step        BIGINT UNSIGNED NOT NULL,  -- how many at a time, for programs that go by it; 0 is refused
//	  version     BIGINT UNSIGNED NOT NULL,  -- rises with each grant
//	  update_time TIMESTAMP(6) NOT NULL
//	)
//
// An operator or Table.Create inserts a tag's row. A store never creates one by itself, since a misspelled tag would
// begin at 1.
package row
