//go:build servers

package backend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/servers"
)

func TestQueryEach(t *testing.T) {
	engines(t, func(t *testing.T, s *servers.Server) {
		c := fresh(t, s)
		all, err := c.Own().QueryEach(t.Context(), []string{"SELECT 1", "DO 1", "SELECT 2 UNION SELECT 3", "SELECT 4 FROM DUAL WHERE FALSE"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, rows := range all {
			got = append(got, fmt.Sprintf("%s", rows.Rows))
		}
		if want := []string{"[[1]]", "[]", "[[2] [3]]", "[]"}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("rows %v, want %v", got, want)
		}
	})
}

// A refusal in the middle is returned, and the connection can be used.
func TestQueryEachIsRefused(t *testing.T) {
	engines(t, func(t *testing.T, s *servers.Server) {
		c := fresh(t, s)
		all, err := c.Own().QueryEach(t.Context(), []string{"SELECT 1", "SELECT nothing", "SELECT 2", "SELEKT 3"})
		e, is := errors.AsType[*mysql.MyError](err)
		if !is || e.Code != mysql.ER_BAD_FIELD_ERROR || all != nil {
			t.Errorf("rows %v, %v", all, err)
		}
		rows, err := c.Own().Query(t.Context(), "SELECT 4")
		if err != nil || string(rows.Rows[0][0]) != "4" {
			t.Errorf("afterwards %v, %v", rows, err)
		}
	})
}

// Statements and answers that are larger than all buffers of a socket don't wait for each other.
func TestQueryEachOfLargeStatements(t *testing.T) {
	engines(t, func(t *testing.T, s *servers.Server) {
		c := fresh(t, s)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		statements := make([]string, 40)
		for i := range statements {
			statements[i] = fmt.Sprintf("SELECT REPEAT('x', 1 << 20), %d, '%s'", i, strings.Repeat("y", 400<<10))
		}
		all, err := c.Own().QueryEach(ctx, statements)
		if err != nil {
			t.Fatal(err)
		}
		for i, rows := range all {
			if len(rows.Rows[0][0]) != 1<<20 || string(rows.Rows[0][1]) != fmt.Sprint(i) {
				t.Fatalf("the answer to statement %d is that of %s", i, rows.Rows[0][1])
			}
		}
	})
}
