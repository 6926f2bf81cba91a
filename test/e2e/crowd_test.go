package e2e

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	process "os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"locus/test/shop"
)

// crowdVariable makes a process of the tests a crowd of clients; it contains their number and the proxy's data source
// name. Both ends of ten thousand connections are more open files than one process may have on most systems.
const crowdVariable = "LOCUS_TEST_CROWD"

// crowd logs in that many clients. For each line that it reads it then runs one round of statements, and answers with
// a line: ok, or the error.
func crowd() int {
	number, dsn, _ := strings.Cut(os.Getenv(crowdVariable), " ")
	n, err := strconv.Atoi(number)
	if err != nil {
		return 1
	}
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return 1
	}
	defer db.Close()
	db.SetMaxIdleConns(n)
	clients := make([]client, n)
	requests := bufio.NewScanner(os.Stdin)
	for requests.Scan() {
		var failure error
		switch requests.Text() {
		case "connect":
			failure = everyone(n, func(i int) error {
				conn, err := db.Conn(context.Background())
				clients[i] = client{conn}
				return err
			})
		case "insert":
			failure = everyone(n, func(i int) error {
				_, err := clients[i].Exec("INSERT INTO test_order (buyer_uid, amount) VALUES (?, 1)", i)
				return err
			})
		case "read":
			failure = everyone(n, func(i int) error {
				var rows int
				if err := clients[i].QueryRow("SELECT COUNT(*) FROM test_order WHERE buyer_uid = ?", i).Scan(&rows); err != nil || rows != 1 {
					return errors.Join(fmt.Errorf("client %d sees %d rows, want 1", i, rows), err)
				}
				return nil
			})
		}
		if failure == nil {
			fmt.Println("ok")
		} else {
			fmt.Println(strings.ReplaceAll(failure.Error(), "\n", "; "))
		}
	}
	return 0
}

// everyone runs a function for all clients, some at a time, and returns one of their errors.
func everyone(n int, do func(i int) error) error {
	var tasks sync.WaitGroup
	var next atomic.Int64
	var failure atomic.Pointer[error]
	for range 16 {
		tasks.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && failure.Load() == nil; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					failure.Store(&err)
				}
			}
		})
	}
	tasks.Wait()
	if failed := failure.Load(); failed != nil {
		return *failed
	}
	return nil
}

// gather starts a crowd, which ends with the test. The returned function lets it run one round.
func gather(t *testing.T, s *shop.Shop, n int) func(round string) {
	t.Helper()
	command := process.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", crowdVariable, n, s.Config().FormatDSN()))
	command.Stderr = os.Stderr
	requests, err1 := command.StdinPipe()
	output, err2 := command.StdoutPipe()
	if err := errors.Join(err1, err2, command.Start()); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(output)
	t.Cleanup(func() {
		_ = requests.Close()
		_ = command.Wait() // killed with the test's context, or ended by itself
	})
	return func(round string) {
		t.Helper()
		if _, err := io.WriteString(requests, round+"\n"); err != nil {
			t.Fatal(err)
		}
		if answer, err := answers.ReadString('\n'); err != nil || answer != "ok\n" {
			t.Fatalf("%s: %s %v", round, answer, err)
		}
	}
}
