//go:build long

package ids

import (
	"testing"

	"locus/idgen/redis"
	"locus/internal/test/servers"
)

// Each master of a cluster is killed or stopped in turn, again and again.
func TestARedisClusterFailsOverAgainAndAgain(t *testing.T) {
	t.Parallel()
	c := servers.StartRedisCluster(t)
	l := startLoad(t, redis.Config{Cluster: c.Seeds()}, 6)
	l.inRedis("all is well")
	for range 5 {
		for i := range 3 {
			master, replica := c.Nodes[i], c.Nodes[i+3]
			if replica.Master() {
				master, replica = replica, master
			}
			if i == 1 {
				master.Stop()
				l.master(replica, true)
				l.inRedis("a master is stopped")
				master.Continue()
			} else {
				l.lags(master, replica)
				restart(t, master)
			}
			l.master(master, false)
			c.Wait(t, i)
			c.Wait(t, i+3)
			l.inRedis("the old master follows")
		}
		l.slotMoves(c)
	}
	l.noneFailed("after all")
}

// The same with sentinels, where the old master follows and is promoted again.
func TestAWatchedRedisFailsOverAgainAndAgain(t *testing.T) {
	t.Parallel()
	w := servers.StartWatched(t)
	l := startLoad(t, redis.Config{Sentinel: &redis.Sentinel{Master: w.Master, Servers: w.Seeds()}}, 1)
	l.inRedis("all is well")
	for round := range 6 {
		master, replica := w.Servers[round%2], w.Servers[1-round%2]
		if round%3 == 2 {
			master.Stop()
			l.master(replica, true)
			l.inRedis("the master is stopped")
			master.Continue()
		} else {
			l.lags(master, replica)
			restart(t, master)
		}
		l.master(master, false)
		w.Linked(t, round%2)
		l.inRedis("the old master follows")
	}
	l.noneFailed("after all")
}
