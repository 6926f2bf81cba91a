package demo

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"

	"locus/cmd/dbserver"
)

// Options holds the flags of the demo, and values that its caller provides.
type Options struct {
	Data            string          // the data directory; created if it does not exist
	Engine          dbserver.Engine // empty: the directory's engine, or the first that is installed
	Shards, Spare   int             // number of shards in a new directory; an existing one keeps its shards
	Replicas        int             // per shard in a new directory
	Proxies         int
	Proxy           string // host:port of the first proxy; the others listen on the following ports
	HTTP            string // host:port of the first proxy's web pages; empty for none
	OrdersPerSecond float64
	ReadyFile       string // empty for none

	Binary string    // path of this program, which runs the proxies
	Out    io.Writer // for messages
}

// Default returns the options of a command without flags.
func Default() Options {
	return Options{
		Data: "locus-demo-data", Shards: 2, Spare: 1, Proxies: 1,
		Proxy: "127.0.0.1:4306", HTTP: "127.0.0.1:8306", OrdersPerSecond: 5,
	}
}

// Validate reports all invalid options, by the names of the flags.
func (o Options) Validate() error {
	var errs []error
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	refuse(o.Data == "", "--data: name a directory")
	if o.Engine != "" {
		_, err := dbserver.ParseEngine(string(o.Engine))
		refuse(err != nil, "--engine: %w", err)
	}
	refuse(o.Shards < 1 || o.Shards > 64, "--shards %d: use 1 to 64", o.Shards)
	refuse(o.Spare < 0 || o.Spare > 64, "--spare %d: use 0 to 64", o.Spare)
	refuse(o.Replicas < 0 || o.Replicas > 4, "--replicas %d: use 0 to 4", o.Replicas)
	refuse(o.Proxies < 1 || o.Proxies > 64, "--proxies %d: use 1 to 64", o.Proxies)
	_, err := o.proxyAddresses()
	refuse(err != nil, "--proxy %q: %w", o.Proxy, err)
	if o.HTTP != "" {
		_, _, err := splitAddress(o.HTTP)
		refuse(err != nil, "--http %q: %w", o.HTTP, err)
	}
	refuse(!(o.OrdersPerSecond >= 0 && o.OrdersPerSecond <= 10_000), "--orders-per-second %g: use 0 to 10000", o.OrdersPerSecond)
	return errors.Join(errs...)
}

// proxyAddresses returns the addresses on which the proxies listen.
func (o Options) proxyAddresses() ([]string, error) {
	host, port, err := splitAddress(o.Proxy)
	if err != nil {
		return nil, err
	}
	if last := port + o.Proxies - 1; last > 65535 {
		return nil, fmt.Errorf("%d proxies would need ports up to %d", o.Proxies, last)
	}
	addresses := make([]string, o.Proxies)
	for i := range addresses {
		addresses[i] = net.JoinHostPort(host, strconv.Itoa(port+i))
	}
	return addresses, nil
}

func splitAddress(hostPort string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(hostPort)
	if err != nil || host == "" {
		return "", 0, errors.New("write host:port, such as 127.0.0.1:4306")
	}
	port, err = strconv.Atoi(text)
	if err != nil || port < 1 || port > 65535 {
		return "", 0, errors.New("the port is a number from 1 to 65535")
	}
	return host, port, nil
}

// checkPorts reports ports that are in use before anything is started, by the names of the flags.
func (o Options) checkPorts() error {
	addresses, err := o.proxyAddresses()
	if err != nil {
		return err
	}
	var errs []error
	for i, a := range addresses {
		flag := "--proxy"
		if i > 0 {
			flag = fmt.Sprintf("--proxy %s with --proxies %d", o.Proxy, o.Proxies)
		}
		errs = append(errs, checkPort(flag, a))
	}
	if o.HTTP != "" {
		errs = append(errs, checkPort("--http", o.HTTP))
	}
	return errors.Join(errs...)
}

func checkPort(flag, address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("%s: can't listen on %s: %w; choose another", flag, address, errors.Unwrap(err))
	}
	return l.Close()
}
