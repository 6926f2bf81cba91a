package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"locus/config"
)

// reloader applies a changed configuration to a running process, as far as that is possible.
type reloader struct {
	load         func() (*config.Config, error)
	current      config.Config // the configuration in force; only run uses it
	log          *slog.Logger
	level        *slog.LevelVar
	certificates *certificates
	proxy        interface {
		// SetSlow sets the duration from which a statement counts as slow.
		SetSlow(after time.Duration)
		// Reread reads the tables and the users' passwords again.
		Reread()
	}
	keys interface {
		// Reread reads the key ring again.
		Reread()
	}
}

// run reloads at each signal, until ctx ends.
func (r *reloader) run(ctx context.Context, signals <-chan os.Signal) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-signals:
			r.reload()
		}
	}
}

// reload applies all changes that can be applied, or none if something is invalid.
func (r *reloader) reload() {
	r.keys.Reread() // Reread logs whether the keys were adopted
	next, err := r.load()
	if err == nil {
		err = r.takeOver(next)
	}
	if err != nil {
		r.log.Error("no change of the configuration was applied", slog.Any("error", err))
		return
	}
	r.log.Info("the configuration, certificates and users' passwords were read again")
}

func (r *reloader) takeOver(next *config.Config) error {
	effective := *next
	for _, change := range r.current.Changes(next) {
		if change.Reloads {
			r.log.Info("a changed field is applied", slog.String("field", change.Field))
			continue
		}
		r.log.Warn("a changed field applies from the next start", slog.String("field", change.Field))
		switch change.Field { // a port without TLS does not get a certificate either
		case "proxy.tls.cert", "proxy.tls.key":
			effective.Proxy.TLS = r.current.Proxy.TLS
		case "http.tls.cert", "http.tls.key":
			effective.HTTP.TLS = r.current.HTTP.TLS
		case "ids.tls.cert", "ids.tls.key":
			effective.IDs.TLS = r.current.IDs.TLS
		}
	}
	if expired := effective.Examine(time.Now()).Expired; expired != nil {
		return expired
	}
	if err := r.certificates.load(&effective); err != nil {
		return err
	}
	r.level.Set(next.Log.Level.Slog())
	r.proxy.SetSlow(next.Proxy.SlowStatement.Std())
	r.proxy.Reread()
	r.current.Log.Level, r.current.Proxy.SlowStatement = next.Log.Level, next.Proxy.SlowStatement
	r.current.Proxy.TLS, r.current.HTTP.TLS, r.current.IDs.TLS = effective.Proxy.TLS, effective.HTTP.TLS, effective.IDs.TLS
	return nil
}
