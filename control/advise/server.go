package advise

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locus/proxy/schema"
)

// ReadSchema reads the schema of a server.
func ReadSchema(ctx context.Context, q schema.Querier) (*Schema, error) {
	tables, listing, unseen, err := schema.Survey(ctx, q)
	if err != nil {
		return nil, err
	}
	if len(tables) == 0 {
		return nil, errors.New("the account sees no table: GRANT SELECT on the databases of the application to it")
	}
	s := NewSchema(tables, listing)
	if unseen != nil {
		s.Notes = slices.Collect(strings.SplitSeq(unseen.Error(), "\n"))
	}
	return s, nil
}

// otherSources is the remedy if a server has no digests.
const otherSources = "give the statements in a file: --slow-log, --general-log or --statements"

// digestTable is performance_schema's table of digests.
const digestTable = "performance_schema.events_statements_summary_by_digest"

// ownDatabases are the databases whose statements are no application's.
const ownDatabases = "'performance_schema', 'information_schema', 'mysql', 'sys', 'locus'"

// picoseconds is performance_schema's unit of time, in a second.
const picoseconds = 1e12

// ReadDigests adds the digests that a server has counted since it started. source is the name of the server in reports.
func (w *Workload) ReadDigests(ctx context.Context, q schema.Querier, source string) error {
	if err := checkDigests(ctx, q); err != nil {
		return err
	}
	samples, err := q.Query(ctx, "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'performance_schema' AND "+
		"TABLE_NAME = 'events_statements_summary_by_digest' AND COLUMN_NAME = 'QUERY_SAMPLE_TEXT'")
	if err != nil {
		return err
	}
	sample := "NULL"
	if len(samples) == 1 && string(samples[0][0]) != "0" {
		sample = "QUERY_SAMPLE_TEXT"
	}
	rows, err := q.Query(ctx, fmt.Sprintf("SELECT SCHEMA_NAME, DIGEST_TEXT, %s, COUNT_STAR, SUM_TIMER_WAIT FROM %s WHERE DIGEST IS NULL OR "+
		"SCHEMA_NAME IS NULL OR LOWER(SCHEMA_NAME) NOT IN (%s) ORDER BY SUM_TIMER_WAIT DESC LIMIT %d", sample, digestTable, ownDatabases, mostDigests))
	if err != nil {
		return denied(err)
	}
	digests := 0
	for _, row := range rows {
		count, _ := strconv.ParseUint(string(row[3]), 10, 64)
		time, _ := strconv.ParseFloat(string(row[4]), 64)
		if row[1] == nil { // statements for which the table had no room
			if count > 0 {
				w.Notes = append(w.Notes, fmt.Sprintf("the server did not keep the digests of %s statements; performance_schema_digests_size sets how many it keeps", grouped(count)))
			}
			continue
		}
		if ownStatement(string(row[1])) {
			continue
		}
		w.AddDigest(string(row[0]), string(row[1]), whole(string(row[2])), count, time/picoseconds)
		digests++
	}
	if digests == 0 {
		return fmt.Errorf("%s on %s has no digests of an application: %s", digestTable, source, otherSources)
	}
	w.Sources = append(w.Sources, fmt.Sprintf("performance_schema of %s: %d digests", source, digests))
	return nil
}

// whole returns a sample, or "" if the server has cut it off.
func whole(sample string) string {
	if strings.HasSuffix(sample, "...") {
		return ""
	}
	return sample
}

// ownStatement reports whether a digest reads the server's own tables by their names, as this command does.
func ownStatement(digest string) bool {
	low := strings.ToLower(digest)
	return strings.Contains(low, "`performance_schema`") || strings.Contains(low, "information_schema") || strings.Contains(low, "performance_schema .")
}

// checkDigests returns why a server has no digests.
func checkDigests(ctx context.Context, q schema.Querier) error {
	rows, err := q.Query(ctx, "SELECT @@global.performance_schema")
	switch {
	case err != nil:
		return err
	case len(rows) == 1 && string(rows[0][0]) == "0":
		return errors.New("performance_schema is off on this server, so it has no digests: set performance_schema=ON in its configuration and restart it, or " + otherSources)
	}
	if _, err := q.Query(ctx, "SELECT COUNT(*) FROM "+digestTable+" LIMIT 1"); err != nil {
		return denied(err)
	}
	return nil
}

// denied adds the remedy to the error of an account that may not read the digests.
func denied(err error) error {
	return fmt.Errorf("read the digests of the server: %w; GRANT SELECT ON performance_schema.* TO the account, or %s", err, otherSources)
}
