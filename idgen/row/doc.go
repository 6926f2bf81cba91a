// Package row keeps counters in a table of MySQL, one row for each tag: as a
// durable store of segments, and as a generator that takes each number there.
//
// It owns the table (its columns, its statements) and the list of tags that it
// has read. It never opens a connection: a *sql.DB is passed in. It never tries
// again what may have had an effect.
//
//	CREATE TABLE locus_ids (
//	  biz_tag     VARBINARY(128) NOT NULL PRIMARY KEY,
//	  max_id      BIGINT UNSIGNED NOT NULL,  -- numbers up to this one are granted
//	  step        BIGINT UNSIGNED NOT NULL,  -- how many at a time, for programs that go by it; 0 is refused
//	  version     BIGINT UNSIGNED NOT NULL,  -- rises with each grant
//	  update_time TIMESTAMP(6) NOT NULL
//	)
//
// A tag is a row that somebody has put there, or Table.Create; a store makes
// none by itself, since a tag that was spelt wrongly would begin at 1.
package row
