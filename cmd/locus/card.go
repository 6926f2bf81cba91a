package main

import (
	"cmp"
	"net"
	"os"
	"time"

	"locus/config"
)

// presenceTTL is how long a dead proxy is still listed.
const presenceTTL = 10 * time.Second

// card is what a proxy says of itself in etcd, under proxies/<ID>.
type card struct {
	ID         string    `json:"id"`
	Addr       string    `json:"addr"`
	MapVersion int64     `json:"map_version"` // that it obeys; 0: not yet any
	Version    string    `json:"version"`
	PID        int       `json:"pid"`
	Started    time.Time `json:"started"`
}

func newCard(c *config.Config, listens net.Addr, now time.Time) card {
	host, port := hostOf(listens)
	addr := cmp.Or(c.Proxy.Advertise, net.JoinHostPort(host, port))
	name, err := os.Hostname()
	if err != nil {
		name = host
	}
	return card{
		ID: name + ":" + port, Addr: addr, Version: buildVersion().Version, PID: os.Getpid(), Started: now.UTC().Round(time.Second),
	}
}

func (c card) obeying(version int64) card {
	c.MapVersion = version
	return c
}

func (c card) text() []byte {
	text, err := toJSON(c)
	if err != nil {
		panic("locus: plain fields can't fail to marshal: " + err.Error())
	}
	return text
}

// hostOf is the name that others may know this listener's host by.
func hostOf(addr net.Addr) (host, port string) {
	host, port, _ = net.SplitHostPort(addr.String())
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		name, err := os.Hostname()
		host = cmp.Or(name, host)
		if err != nil {
			return host, port
		}
	}
	return host, port
}
