package e2e

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"log"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
	"locus/proxy"
	"locus/test/shop"
)

var errNoProxy = errors.New("no proxy")

// finding distinguishes errors of connecting from errors of statements.
type finding struct{ driver.Connector }

func (f finding) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := f.Connector.Connect(ctx)
	if err != nil {
		return nil, errors.Join(errNoProxy, err)
	}
	return conn, nil
}

// TestADrainFailsNoStatement stops a proxy while clients send statements without a pause, as text and prepared, some
// in transactions. Like pools, clients check their connection before they use it again. So each of them finally finds
// no connection, and no statement fails.
func TestADrainFailsNoStatement(t *testing.T) {
	var (
		running sync.WaitGroup
		served  atomic.Int64
		pools   []*sql.DB
	)
	const enough = 2000
	warm := make(chan struct{})
	work := []func(*sql.DB) error{
		func(db *sql.DB) error { return db.QueryRow("SELECT COUNT(*) FROM product").Scan(new(int)) },
		func(db *sql.DB) error {
			return db.QueryRow("SELECT COUNT(*) FROM product WHERE product_id = ?", 1).Scan(new(int))
		},
		func(db *sql.DB) error {
			tx, err := db.Begin()
			if err != nil {
				return err
			}
			if _, err := tx.Exec("UPDATE product SET price = price + 1 WHERE product_id = 1"); err != nil {
				return errors.Join(err, tx.Rollback())
			}
			return tx.Commit()
		},
	}
	t.Run("serving", func(serving *testing.T) {
		s := shop.Start(serving, servers.MariaDB, shop.Options{Options: func(o *proxy.Options) { o.DrainTimeout = time.Minute }})
		for i := range 24 {
			config := s.Config()
			config.Logger = log.New(io.Discard, "", 0) // connections end, of course
			if i%2 == 0 {
				config.TLSConfig = "skip-verify"
			}
			connector, err := mysql.NewConnector(config)
			if err != nil {
				t.Fatal(err)
			}
			db := sql.OpenDB(finding{connector})
			pools = append(pools, db)
			running.Go(func() {
				for {
					err := work[i%len(work)](db)
					if errors.Is(err, errNoProxy) {
						return
					}
					if err != nil {
						t.Errorf("client %d: %v", i, err)
					}
					if served.Add(1) == enough {
						close(warm)
					}
				}
			})
		}
		<-warm
	}) // which stops the proxy
	running.Wait()
	for _, db := range pools {
		_ = db.Close()
	}
}
