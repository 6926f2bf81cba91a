package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"time"

	"locus/config"
	"locus/control/fleet"
)

// presenceTTL is the time for which a dead process is still listed.
const presenceTTL = 10 * time.Second

// newCard returns the card of this process. Its ID consists of the host, the port for clients (or else for
// HTTP, or else the process ID), and a random number of this run. The random number makes the ID unique:
// statements of a killed process may outlive it on a shard, and machines may be copies of each other.
func newCard(c *config.Config, listens net.Addr, now time.Time) fleet.Card {
	name, err := os.Hostname()
	card := fleet.Card{
		Version: buildVersion().Version, PID: os.Getpid(), Started: now.UTC().Round(time.Second), Roles: c.Roles, Answers: true, Leases: c.Does(config.ProxyTask),
	}
	port := strconv.Itoa(card.PID)
	if listens != nil {
		var host string
		host, port = hostOf(listens)
		if card.Addr = net.JoinHostPort(host, port); card.Answers {
			card.Addr = cmp.Or(c.Proxy.Advertise, card.Addr)
		}
		if err != nil {
			name = host
		}
	}
	card.ID = fmt.Sprintf("%s:%s-%06x", name, port, rand.Uint32N(1<<24))
	return card
}

// hostOf returns the host name by which other machines may know the listener, and its port.
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
