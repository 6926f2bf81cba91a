package demo

import (
	"fmt"
	"net"
	"regexp"
	"strings"
	"text/template"

	"locus/router"
)

var hintsTemplate = template.Must(template.New("hints").Funcs(template.FuncMap{"sh": quoted}).Parse(`
A sharded MySQL server is ready on {{.Addr}}.

  mysql -h {{.Host}} -P {{.Port}} -u {{.User}} -p{{.Password}} {{.Database}}

    INSERT INTO test_order (buyer_uid, amount) VALUES (42, 9.90);
    SELECT LAST_INSERT_ID();
    SELECT * FROM test_order WHERE buyer_uid = 42;
    EXPLAIN SELECT * FROM test_order WHERE buyer_uid = 42;
    SELECT COUNT(*), SUM(amount) FROM test_order;
    SELECT order_id, buyer_uid, amount FROM test_order ORDER BY created_at DESC LIMIT 5;

{{range .More}}another proxy: {{.}}
{{end}}{{range .Shards}}shard {{.Name}}:  mysql -h 127.0.0.1 -P {{.Port}} -u {{.User}} -p"$(cat {{sh .Secret}})" {{.Database}}
{{end}}
Look around from another terminal, in which LOCUS_CONFIG names the cluster and where its passwords are:

  export LOCUS_CONFIG={{sh .Config}}
  {{sh .Binary}} status
  {{sh .Binary}} routes show
  {{sh .Binary}} gene 42
  {{sh .Binary}} id decode ID
  {{sh .Binary}} get > cluster.yaml
{{if .Spare}}
Take half of {{.First}}'s rows to {{.Spare}} while orders flow, and back (q ends watch; it names the next command):

  {{sh .Binary}} split --from {{.First}} --to {{.Spare}} --half
  {{sh .Binary}} watch
  {{sh .Binary}} cutover split-1 --to 100% --step 5% --every 5s
  {{sh .Binary}} watch
  {{sh .Binary}} rollback split-1

or in SQL:  mysql -h {{.Host}} -P {{.Port}} -u {{.DBA}} -p"$(cat {{sh .DBASecret}})"

    CALL locus.split('{{.First}}', '{{.Spare}}', 'half');
    SELECT id, phase, percent, doing FROM locus.jobs;
    CALL locus.cutover('split-1', 100, 5, 5);
{{end}}{{if .Replica}}
Each shard has servers that follow its primary. Make another one the primary while orders flow, or kill the primary:
writes of the shard go on at another one some seconds later, and the demo starts the killed one again.

  {{sh .Binary}} switchover {{.Replicated}} --to {{.Replica}}
  kill -9 $(cat {{sh .PIDFile}})
  {{sh .Binary}} status
{{end}}{{if .URL}}
Dashboard:  {{.URL}}  (user admin, password in {{.Secret}})
{{end}}Logs:  {{.Logs}} and server.log of each shard
Etcd:  {{.Etcd}}  (--etcd or LOCUS_ETCD alone is not enough for commands that ask the shards: see LOCUS_CONFIG above)

Ctrl-C stops everything; the data stays in {{.Data}}.
`))

type hints struct {
	Addr, Host, Port, User, Password, Database string
	DBA, DBASecret                             string
	More                                       []string
	Shards                                     []hintShard
	Binary, Config, URL, Secret                string
	Logs, Etcd, Data                           string
	First, Spare                               router.ShardName
	Replicated                                 router.ShardName // empty if no shard has replicas
	Replica, PIDFile                           string
}

// quoted quotes a word for the shell.
func quoted(word string) string {
	if regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`).MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

type hintShard struct{ Name, Port, User, Secret, Database string }

// hints prints commands to try next.
func (r *running) hints(state ready) error {
	host, port, err := net.SplitHostPort(state.Proxies[0].Addr)
	if err != nil {
		return err
	}
	h := hints{
		Addr: state.Proxies[0].Addr, Host: host, Port: port, User: state.User, Password: state.Password, Database: state.Database,
		DBA: dbaUser, DBASecret: r.dir.file("secrets", dbaSecret),
		Binary: r.options.Binary, Config: r.proxies[0].config, URL: state.HTTP.URL, Secret: r.dir.file("secrets", httpSecret),
		Logs: r.dir.file("logs"), Etcd: state.Etcd[0], Data: r.dir.path,
		First: r.first, Spare: r.spare,
	}
	for _, p := range state.Proxies[1:] {
		h.More = append(h.More, p.Addr)
	}
	for _, s := range state.Shards {
		_, port, err := net.SplitHostPort(s.Addr)
		if err != nil {
			return err
		}
		h.Shards = append(h.Shards, hintShard{s.Name, port, s.User, r.dir.file("secrets", shardSecret(router.ShardName(s.Name))), s.Database})
	}
	if s := r.shards[0]; len(s.replicas) > 0 {
		h.Replicated, h.Replica, h.PIDFile = s.name, s.replicas[0].Addr(), r.dir.file(string(s.name)+"-replica-1", "server.pid")
	}
	if err := hintsTemplate.Execute(r.options.Out, h); err != nil {
		return fmt.Errorf("print what to try: %w", err)
	}
	return nil
}
