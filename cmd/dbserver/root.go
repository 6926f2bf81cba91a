package dbserver

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
)

// loginPatience bounds one attempt to log in, because a server may become unresponsive while it starts.
const loginPatience = 10 * time.Second

// Connect logs in as root through the socket. The caller closes the connection.
func (s *Server) Connect(ctx context.Context) (*client.Conn, error) {
	conn, err := connectRoot(ctx, s.Socket())
	if err != nil {
		return nil, fmt.Errorf("log in to %s in %s as root: %w", s.Engine(), s.Dir(), err)
	}
	return conn, nil
}

// Execute runs statements as root, one after another, and stops at the first error. Earlier statements have
// taken effect. If ctx ends meanwhile, the outcome of the running statement is unknown.
func (s *Server) Execute(ctx context.Context, statements ...string) error {
	conn, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return execute(ctx, conn, statements...)
}

func execute(ctx context.Context, conn *client.Conn, statements ...string) error {
	// The client library supports no contexts, so closing the connection ends a wait.
	defer context.AfterFunc(ctx, func() { _ = conn.Conn.Conn.Close() })()
	for _, statement := range statements {
		if _, err := conn.Execute(statement); err != nil {
			if ctx.Err() != nil {
				err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
			}
			return fmt.Errorf("execute %.80q: %w", statement, err)
		}
	}
	return nil
}

// connectRoot logs in as root. It sets a deadline on the connection itself, because the client library reads
// without one during the login.
func connectRoot(ctx context.Context, socket string) (*client.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, loginPatience)
	defer cancel()
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		deadline, _ := ctx.Deadline()
		return conn, conn.SetDeadline(deadline)
	}
	conn, err := client.ConnectWithDialer(ctx, "unix", socket, "root", "", "", dial, func(c *client.Conn) error {
		return c.SetCollation("utf8mb4_general_ci") // MariaDB does not know the library's default collation
	})
	if err != nil {
		return nil, err
	}
	return conn, conn.SetDeadline(time.Time{})
}

// keepRootAlone drops every account except root@localhost and the server's own.
func keepRootAlone(ctx context.Context, socket string) error {
	conn, err := connectRoot(ctx, socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	accounts, err := conn.Execute(`SELECT user, host FROM mysql.user WHERE user = '' OR (user = 'root' AND host <> 'localhost')`)
	if err != nil {
		return fmt.Errorf("list the accounts of a new server: %w", err)
	}
	defer accounts.Close()
	var drops []string
	for row := range accounts.Values {
		user, userErr := accounts.GetString(row, 0)
		host, hostErr := accounts.GetString(row, 1)
		if userErr != nil || hostErr != nil {
			return fmt.Errorf("list the accounts of a new server: %w, %w", userErr, hostErr)
		}
		drops = append(drops, "DROP USER "+quote(user)+"@"+quote(host))
	}
	return execute(ctx, conn, drops...)
}
