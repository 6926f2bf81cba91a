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

// Pooled asks one shard through its pool, a connection for each question.
type Pooled struct{ Pool *backend.Pool }

// askedAgain is how often a question is asked whose connection was lost: a process that moves rows ends those of proxies
// that are gone, and one that has just begun is not known yet.
const askedAgain = 3

// Query implements Querier. What reads a schema changes nothing, so it is asked again if its connection is lost.
func (p Pooled) Query(ctx context.Context, sql string) ([][][]byte, error) {
	answers, err := p.QueryEach(ctx, []string{sql})
	if err != nil {
		return nil, err
	}
	return answers[0], nil
}

// QueryEach implements Pipeliner, on one connection. It asks again as Query does.
func (p Pooled) QueryEach(ctx context.Context, statements []string) (answers [][][][]byte, err error) {
	for range askedAgain {
		answers, err = p.ask(ctx, statements)
		if _, lost := errors.AsType[*backend.LostError](err); !lost || ctx.Err() != nil {
			break
		}
	}
	return answers, err
}

func (p Pooled) ask(ctx context.Context, statements []string) (answers [][][][]byte, err error) {
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

// Target is how a declared shard is reached, with its secrets found by their
// names: the password at every login, the authorities now. Each call makes
// another TLS configuration. A shard whose documents can't be used fails every login
// with the reason.
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
		t.TLS = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true} // what tls: on means
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
