package doctor

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"locus/control/finding"
	"locus/migrate/link"
	"locus/router/catalog"
)

const (
	// leastFree is the part of a disk that should be free, in per cent.
	leastFree = 10
	// mostHollow is how many bytes of a table's file may be unused, if that is more than its rows and indexes
	// take.
	mostHollow = 1 << 30
)

// disk is a disk of a server.
type disk struct {
	path             string
	total, available int64 // KiB
}

// disk reports a disk with too little free space, if the server can report its disks: MariaDB can with its
// plugin DISKS.
func (e *examination) disk(ctx context.Context, s *shard) error {
	of, err := s.disk(ctx)
	e.room(string(s.name), of)
	return err
}

func (e *examination) room(where string, d disk) {
	if d.available*100 < d.total*leastFree {
		e.find(finding.AtRisk, "disk", where, "free space, or give it a larger disk; a job can move rows to another shard", "%d of the %d GiB of its disk are free",
			d.available>>20, d.total>>20)
	}
}

// disk returns the disk with the server's data. It returns the zero value for a server that can't report its
// disks.
func (s *shard) disk(ctx context.Context) (disk, error) {
	rows, err := s.Query(ctx, "SELECT Path, Total, Available, @@datadir FROM information_schema.DISKS")
	if link.Code(err) != 0 {
		return disk{}, nil
	}
	var all []disk
	datadir := ""
	for _, r := range rows {
		total, _ := strconv.ParseInt(string(r[1]), 10, 64)
		available, _ := strconv.ParseInt(string(r[2]), 10, 64)
		all, datadir = append(all, disk{string(r[0]), total, available}), string(r[3])
	}
	return holding(all, datadir), err
}

// holding returns the disk that contains a directory: the one with the longest mount point above it.
func holding(all []disk, directory string) (nearest disk) {
	for _, d := range all {
		within := strings.HasPrefix(strings.TrimSuffix(directory, "/")+"/", strings.TrimSuffix(d.path, "/")+"/")
		if within && len(d.path) >= len(nearest.path) {
			nearest = d
		}
	}
	return nearest
}

// hollow reports tables whose files are mostly unused, such as the tables of the source after a job has moved rows.
func (e *examination) hollow(ctx context.Context, s *shard) error {
	rows, err := s.Query(ctx, "SELECT TABLE_SCHEMA, TABLE_NAME, IFNULL(DATA_FREE, 0), IFNULL(DATA_LENGTH + INDEX_LENGTH, 0) FROM information_schema.TABLES WHERE TABLE_TYPE = 'BASE TABLE'"+
		fmt.Sprintf(" AND DATA_FREE > %d", mostHollow))
	if err != nil {
		return err
	}
	for _, r := range rows {
		free, _ := strconv.ParseInt(string(r[2]), 10, 64)
		holds, _ := strconv.ParseInt(string(r[3]), 10, 64)
		e.hollowTable(string(s.name), catalog.TableName{Schema: string(r[0]), Name: string(r[1])}, free, holds)
	}
	return nil
}

func (e *examination) hollowTable(where string, t catalog.TableName, free, holds int64) {
	if _, declared := e.Cluster.Tables[t]; declared && free > mostHollow && free > holds {
		e.find(finding.Advice, "disk", where, fmt.Sprintf("OPTIMIZE TABLE %s.%s on that server, at a quiet hour: it rewrites the table", link.Name(t.Schema), link.Name(t.Name)),
			"%d MiB of the file of %s are unused, and %d MiB contain rows", free>>20, t, holds>>20)
	}
}
