package schema

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"locus/proxy/backend"
	"locus/router"
	"locus/router/cluster"
)

// Pooled queries one shard through its pool. It borrows a connection for each call.
type Pooled struct{ Pool *backend.Pool }

// queryAttempts is the number of attempts if a connection is lost. A process that moves rows kills the connections of proxies that have ended,
// and may not know yet a proxy that has just started.
const queryAttempts = 3

// Query implements Querier. Reading a schema changes nothing, so the query is repeated if its connection is lost.
func (p Pooled) Query(ctx context.Context, sql string) ([][][]byte, error) {
	answers, err := p.QueryEach(ctx, []string{sql})
	if err != nil {
		return nil, err
	}
	return answers[0], nil
}

// QueryEach implements Pipeliner, on one connection. It repeats the statements as Query does.
func (p Pooled) QueryEach(ctx context.Context, statements []string) (answers [][][][]byte, err error) {
	for range queryAttempts {
		answers, err = p.queryOnce(ctx, statements)
		if _, lost := errors.AsType[*backend.LostError](err); !lost || ctx.Err() != nil {
			break
		}
	}
	return answers, err
}

func (p Pooled) queryOnce(ctx context.Context, statements []string) (answers [][][][]byte, err error) {
	conn, err := p.Pool.Borrow(ctx, backend.Default, 0)
	if err != nil {
		return nil, err
	}
	all, err := conn.Own().QueryEach(ctx, statements)
	if err != nil {
		p.Pool.Discard(conn)
		return nil, err
	}
	p.Pool.Return(conn)
	for _, rows := range all {
		answers = append(answers, rows.Rows)
	}
	return answers, nil
}

// Target returns the address and credentials of a declared shard. secret returns a secret by its name. The password is read at every login,
// the authorities are read now. Each call creates another TLS configuration. For a shard whose documents can't be used, every login fails with
// the reason.
func Target(name router.ShardName, s cluster.Shard, secret func(name string) (string, error)) (backend.Target, error) {
	if s.Unreadable != "" {
		return backend.Target{Shard: name, Password: func() (string, error) { return "", errors.New(s.Unreadable) }}, nil
	}
	t := backend.Target{
		Shard: name, Addr: s.Address, User: s.User,
		Password: func() (string, error) { return secret(s.Secret) },
		MaxOpen:  s.MaxConnections, MaxLag: s.Lag(),
	}
	for _, r := range s.Replicas {
		t.Replicas = append(t.Replicas, r.Address)
	}
	switch s.TLS {
	case cluster.TLSOff:
	case cluster.TLSOn:
		t.TLS = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true} // this is the definition of tls: on
	case cluster.TLSVerify:
		t.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		if s.CA == "" {
			return t, nil
		}
		pem, err := secret(s.CA)
		if err != nil {
			return backend.Target{}, fmt.Errorf("shard %s: authorities: %w", name, err)
		}
		t.TLS.RootCAs = x509.NewCertPool()
		if !t.TLS.RootCAs.AppendCertsFromPEM([]byte(pem)) {
			return backend.Target{}, fmt.Errorf("shard %s: authorities: secret %q holds no PEM certificate", name, s.CA)
		}
	}
	return t, nil
}
