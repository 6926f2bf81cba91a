package advise

import (
	"context"
	"log/slog"

	"locus/config"
	"locus/proxy/backend"
	"locus/proxy/schema"
	"locus/router/cluster"
)

// Server is a server outside of a cluster whose schema and statements are read.
type Server struct {
	schema.Querier
	Address string
	pool    *backend.Pool
}

// Open returns a server, which is dialed at the first query. The caller closes it.
func Open(at cluster.Shard, password string) (*Server, error) {
	target, err := schema.Target("", at, func(string) (string, error) { return password, nil })
	if err != nil {
		return nil, err
	}
	pool := backend.NewPool(target, backend.Limits{MaxOpen: 1, ConnectTimeout: config.Default().Backends.ConnectTimeout.Std()}, slog.New(slog.DiscardHandler))
	return &Server{schema.Pooled{Pool: pool}, target.Addr, pool}, nil
}

// Close closes the connection to the server.
func (s *Server) Close(ctx context.Context) { _ = s.pool.Close(context.WithoutCancel(ctx)) }
