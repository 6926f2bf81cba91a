package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locus/config/etcd"
	"locus/control/fleet"
	"locus/control/jobs"
	"locus/idgen/gene"
	"locus/migrate/link"
	"locus/proxy/meter"
	"locus/router"
	"locus/router/cluster"
)

// loadPatience limits the wait for the figures of the proxies.
const loadPatience = 3 * time.Second

// Load contains the statements per second that the proxies have counted by gene, in the last minutes.
type Load struct {
	*meter.Loads
	Proxies int
	Silent  []string // proxies that did not answer
}

// MeasureLoad asks all proxies for their load by gene. It is an error if none answers.
func MeasureLoad(ctx context.Context, kv *etcd.KV, w gene.Width) (*Load, error) {
	answers, err := fleet.Ask[meter.Load](ctx, kv, fleet.Load, loadPatience)
	if err != nil {
		return nil, err
	}
	if len(answers.By) == 0 {
		return nil, NoProxy(answers.Silent)
	}
	reports := make([]meter.Load, 0, len(answers.By))
	for _, l := range answers.By {
		reports = append(reports, l)
	}
	slices.Sort(answers.Silent)
	return &Load{meter.Sum(w, reports...), len(reports), answers.Silent}, nil
}

// NoProxy returns why no figures of proxies are known.
func NoProxy(silent []string) error {
	if len(silent) > 0 {
		return fmt.Errorf("no proxy reports its load: %s", strings.Join(silent, ", "))
	}
	return errors.New("no proxy runs, so there is no load")
}

// EstimateRows returns about how many rows a shard has in sharded tables, as its server estimates them.
func EstimateRows(ctx context.Context, store *jobs.Store, c *cluster.Cluster, name router.ShardName) (float64, error) {
	server, err := store.Shard(ctx, name)
	if err != nil {
		return 0, err
	}
	conn, err := link.Dial(ctx, server)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	total := 0.0
	for t := range jobs.Sharded(c) {
		rows, err := conn.Query(ctx, "SELECT IFNULL(TABLE_ROWS, 0) FROM information_schema.TABLES WHERE TABLE_SCHEMA = "+
			link.Text(t.Schema)+" AND TABLE_NAME = "+link.Text(t.Name))
		if err != nil {
			return 0, err
		}
		for _, r := range rows {
			n, err := strconv.ParseFloat(string(r[0]), 64)
			if err != nil {
				return 0, err
			}
			total += n
		}
	}
	return total, nil
}
