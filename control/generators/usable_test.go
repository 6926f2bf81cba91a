//go:build servers

package generators

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"locus/idgen/cipher"
	"locus/idgen/format"
	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/router"
	"locus/router/cluster"
)

// declarer makes random declarations of generators.
type declarer struct {
	*rand.Rand
	shards, redis, memcached string
	lines                    []string
	declared                 int // counts the declared ones, so that each gets its own tables
}

func (d *declarer) of(texts ...string) string { return texts[d.IntN(len(texts))] }

// number declares a generator of numbers and returns its name. deep bounds the nesting of generators.
func (d *declarer) number(deep int) string {
	kind := d.IntN(11)
	if deep == 0 {
		kind = d.IntN(8)
	}
	text := ""
	switch kind {
	case 0:
		text = "{kind: segment" + d.of("", ", min_step: 1", ", min_step: 10, max_step: 10", ", min_step: 5000", ", min_step: 5000000000") + "}"
	case 1:
		text = "{kind: segment, servers: [" + d.redis + "]}"
	case 2:
		text = "{kind: redis, " + d.of("server: "+strings.Split(d.redis, ",")[0], "servers: ["+d.redis+"]") + d.of("", ", keys: 4", ", keys: 300") + "}"
	case 3:
		text = "{kind: buckets, " + d.of("server: "+strings.Split(d.redis, ",")[0], "servers: ["+d.redis+"]") + "}"
	case 4:
		text = "{kind: memcached, " + d.of("server: "+strings.Split(d.memcached, ",")[0], "servers: ["+d.memcached+"]") + "}"
	case 5:
		text = "{kind: row, shards: [s0]" + d.of("", ", lock: local") + "}"
	case 6:
		text = "{kind: auto_increment, shards: " + d.of("[s0]", "[s0, s0]", "[s0, s0, s0, s0]") + "}"
	case 7:
		text = "{kind: snowflake}"
	case 8, 9:
		text = fmt.Sprintf("{kind: queue, of: [%s], bits: %d}", d.number(deep-1), d.IntN(6))
	default:
		text = fmt.Sprintf("{kind: ha, of: [%s, %s]}", d.number(deep-1), d.number(deep-1))
	}
	return d.declare(text)
}

// declare declares a generator, sometimes with a long name.
func (d *declarer) declare(text string) string {
	d.declared++
	name := fmt.Sprintf("g%d", d.declared)
	if d.IntN(8) == 0 {
		name += strings.Repeat("x", 40)
	}
	d.lines = append(d.lines, "  "+name+": "+text)
	return name
}

// format declares a template and returns its name.
func (d *declarer) format() string {
	of := ""
	if d.IntN(3) > 0 {
		of = ", of: [" + d.number(2) + "]"
	} else {
		of = d.of("", "", ", min_step: 200", ", min_step: 100000")
	}
	around := []string{"", "", "A", "-", "9", "{context:shop:4}", "{time:yyMMddHHmmssSSS}", "{time:yyyyMMdd}", "{time:yyyy-MM-dd HH,zone=+08:00}", "{check:9,31,10}", "{check:7,4294967295}", "{gene}", "{calc:(98 - seq * 100 % 97) % 97}", "{calc:luhn(part1)}"}
	sequence := d.of("", ":1", ":3", ":4", ":5", ":6", ":8", ":13", ":19", ":5,per=yyyyMMdd", ":8,per=yyMMddHHmm", ":8,hidden=1", ":8,hidden=2", ":19,hidden=1", ":9,hidden=7", ":8,per=yyyyMMdd,hidden=1")
	template := d.of(around...) + d.of(around...) + "{seq" + sequence + "}" + d.of(around...)
	return d.declare(fmt.Sprintf(`{kind: format, template: "%s"%s}`, template, of))
}

// Every accepted declaration can be used. The test declares random generators of all kinds, with random
// templates, in two processes. Each accepted one issues a thousand texts, or as many as its own sequence has
// digits for, and no text twice.
func TestWhatIsAcceptedCanBeUsed(t *testing.T) {
	shard := servers.Shared(t, servers.MariaDB, 1)[0]
	shard.Exec(t, "DROP SCHEMA IF EXISTS locus")
	several := func(start func() *servers.Process) string {
		return fmt.Sprintf("%q,%q", start().Addr, start().Addr)
	}
	d := declarer{
		Rand: rand.New(rand.NewPCG(7, 7)), redis: several(func() *servers.Process { return servers.Redis(t) }), memcached: several(func() *servers.Process { return servers.Memcached(t) }),
		shards: fmt.Sprintf("shards:\n  s0: {address: %q, user: %s, secret: shard, tls: \"off\"}\nroutes: [0xffff s0]\n", shard.Addr(), shard.User),
	}
	ring, err := cipher.Parse([]byte("current: 1\nkeys:\n  - {version: 1, key: 2b7e151628aed2a6abf7158809cf4f3c}\n  - {version: 2, cipher: chacha20, key: 2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94}\n"))
	if err != nil {
		t.Fatal(err)
	}
	accepted, cases := 0, scale.Of(300, 5000)
	for range cases {
		d.lines = nil
		name := d.format()
		text := "generators:\n" + strings.Join(d.lines, "\n") + "\n"
		c, err := cluster.Parse([]byte(d.shards + text))
		if err == nil {
			_, err = cluster.Succeed(nil, c, router.Stamp{By: "test", At: time.Unix(1, 0)})
		}
		if err == nil {
			for _, version := range c.HiddenBy(nil) {
				_, err = ring.HideDigits(version, cipher.MostDigits, "", 1) // what the command checks
			}
		}
		if err != nil {
			continue
		}
		accepted++
		if err := useUp(t, c, name, ring, shard.Password); err != nil {
			t.Errorf("%s%v", text, err)
		}
	}
	t.Logf("%d of %d are accepted", accepted, cases)
	if accepted < cases/10 || accepted > cases*9/10 {
		t.Errorf("%d of %d are accepted", accepted, cases)
	}
}

// useUp takes a thousand texts of a generator.
func useUp(t *testing.T, c *cluster.Cluster, name string, ring *cipher.Ring, password string) error {
	store := newKV()
	var sets [2]*Set
	for i := range sets {
		sets[i] = New(Options{
			KV: store, Name: "test", DataDir: t.TempDir(), Ring: func() *cipher.Ring { return ring }, Secrets: func(string) (string, error) { return password, nil },
		})
		defer sets[i].Close()
	}
	template, err := format.Parse(c.Generators[name].Template, format.Parts())
	if err != nil {
		return err
	}
	sequence, own := template.Sequence(), len(c.Generators[name].Of) == 0
	seen := map[string]bool{}
	for i, late := 0, 0; i < 20; i++ {
		texts, err := sets[i%2].Next(t.Context(), Request{Declared: c, Name: name, Count: 50, Context: map[string]string{"shop": []string{"TMAL", "7", ""}[i%3]}})
		if errors.Is(err, format.ErrFull) && own && sequence.Max <= 4 {
			break // as many as were declared
		}
		if network, is := errors.AsType[net.Error](err); is && network.Timeout() && late < 20 { // the machine has too little time
			i, late = i-1, late+1
			continue
		}
		if err != nil {
			return err
		}
		for _, text := range texts {
			if seen[text] {
				return fmt.Errorf("%s came twice", text)
			}
			seen[text] = true
		}
	}
	return nil
}
