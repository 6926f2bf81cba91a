package checkpoint

import (
	"context"
	"fmt"

	"locus/migrate/link"
)

// Schema is the schema of the tables.
const Schema = "locus"

var definitions = []string{
	"CREATE DATABASE IF NOT EXISTS locus DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
	// One row per worker. epoch determines who may write. batch changes with every write, so that an update of no row
	// is noticed.
	`CREATE TABLE IF NOT EXISTS locus.move_position (
		job VARBINARY(128) NOT NULL, worker SMALLINT UNSIGNED NOT NULL,
		epoch BIGINT UNSIGNED NOT NULL DEFAULT 0, batch BIGINT UNSIGNED NOT NULL DEFAULT 0,
		changes BIGINT UNSIGNED NOT NULL DEFAULT 0, conflicts BIGINT UNSIGNED NOT NULL DEFAULT 0,
		position LONGBLOB NOT NULL, PRIMARY KEY (job, worker)) ENGINE=InnoDB`,
	// One row per lane of each activity: copy, verify.
	`CREATE TABLE IF NOT EXISTS locus.move_lane (
		job VARBINARY(128) NOT NULL, activity VARBINARY(16) NOT NULL, lane VARBINARY(400) NOT NULL,
		through LONGBLOB NOT NULL, done TINYINT NOT NULL DEFAULT 0,
		row_count BIGINT UNSIGNED NOT NULL DEFAULT 0, byte_count BIGINT UNSIGNED NOT NULL DEFAULT 0,
		PRIMARY KEY (job, activity, lane)) ENGINE=InnoDB`,
	// Refused rows: the incoming row and the existing one, as SQL.
	`CREATE TABLE IF NOT EXISTS locus.move_conflict (
		id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
		job VARBINARY(128) NOT NULL, table_name VARBINARY(400) NOT NULL, reason TEXT NOT NULL,
		incoming LONGBLOB, standing LONGBLOB, position LONGBLOB NOT NULL,
		at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), KEY (job)) ENGINE=InnoDB`,
	// Rows repaired here: before and after, as SQL.
	`CREATE TABLE IF NOT EXISTS locus.move_repair (
		id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
		job VARBINARY(128) NOT NULL, table_name VARBINARY(400) NOT NULL, took VARBINARY(400) NOT NULL, by_whom VARBINARY(400) NOT NULL,
		was LONGBLOB, became LONGBLOB,
		at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), KEY (job)) ENGINE=InnoDB`,
}

// Create creates missing tables.
func Create(ctx context.Context, c *link.Conn) error {
	for _, d := range definitions {
		if _, err := c.Exec(ctx, d); err != nil {
			return fmt.Errorf("create the tables of moves: %w", err)
		}
	}
	return nil
}

// Forget deletes everything stored about a job except its conflicts. There may be nothing, for a job that was aborted
// before its reverse stream had a start.
func Forget(ctx context.Context, c *link.Conn, job string) error {
	for _, t := range []string{"move_position", "move_lane"} {
		if _, err := c.Exec(ctx, "DELETE FROM locus."+t+" WHERE job = "+link.Text(job)); err != nil && !None(err) {
			return fmt.Errorf("forget job %s: %w", job, err)
		}
	}
	return nil
}
