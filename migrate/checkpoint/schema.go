package checkpoint

import (
	"context"
	"fmt"

	"locus/migrate/link"
)

// Schema is the schema that the tables are in.
const Schema = "locus"

var definitions = []string{
	"CREATE DATABASE IF NOT EXISTS locus DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
	// One row for each worker. epoch tells who may write; batch changes with
	// every write, so that one that found nothing is noticed.
	`CREATE TABLE IF NOT EXISTS locus.move_position (
		job VARBINARY(128) NOT NULL, worker SMALLINT UNSIGNED NOT NULL,
		epoch BIGINT UNSIGNED NOT NULL DEFAULT 0, batch BIGINT UNSIGNED NOT NULL DEFAULT 0,
		changes BIGINT UNSIGNED NOT NULL DEFAULT 0, conflicts BIGINT UNSIGNED NOT NULL DEFAULT 0,
		position LONGBLOB NOT NULL, PRIMARY KEY (job, worker)) ENGINE=InnoDB`,
	// One row for each lane of each activity: copy, verify.
	`CREATE TABLE IF NOT EXISTS locus.move_lane (
		job VARBINARY(128) NOT NULL, activity VARBINARY(16) NOT NULL, lane VARBINARY(400) NOT NULL,
		through LONGBLOB NOT NULL, done TINYINT NOT NULL DEFAULT 0,
		row_count BIGINT UNSIGNED NOT NULL DEFAULT 0, byte_count BIGINT UNSIGNED NOT NULL DEFAULT 0,
		PRIMARY KEY (job, activity, lane)) ENGINE=InnoDB`,
	// What was refused: the row that came and the one that stands, as SQL text.
	`CREATE TABLE IF NOT EXISTS locus.move_conflict (
		id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
		job VARBINARY(128) NOT NULL, table_name VARBINARY(400) NOT NULL, reason TEXT NOT NULL,
		incoming LONGBLOB, standing LONGBLOB, position LONGBLOB NOT NULL,
		at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), KEY (job)) ENGINE=InnoDB`,
	// What was repaired here: the row that stood and the one that stands, as SQL text.
	`CREATE TABLE IF NOT EXISTS locus.move_repair (
		id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
		job VARBINARY(128) NOT NULL, table_name VARBINARY(400) NOT NULL, took VARBINARY(400) NOT NULL, by_whom VARBINARY(400) NOT NULL,
		was LONGBLOB, became LONGBLOB,
		at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), KEY (job)) ENGINE=InnoDB`,
}

// Create makes the tables where they are missing.
func Create(ctx context.Context, c *link.Conn) error {
	for _, d := range definitions {
		if _, err := c.Exec(ctx, d); err != nil {
			return fmt.Errorf("create the tables of moves: %w", err)
		}
	}
	return nil
}

// Forget removes all that is written down of a job but its conflicts. There may be
// nothing: of a job that is given up before its way back had a beginning.
func Forget(ctx context.Context, c *link.Conn, job string) error {
	for _, t := range []string{"move_position", "move_lane"} {
		if _, err := c.Exec(ctx, "DELETE FROM locus."+t+" WHERE job = "+link.Text(job)); err != nil && !none(err) {
			return fmt.Errorf("forget job %s: %w", job, err)
		}
	}
	return nil
}
