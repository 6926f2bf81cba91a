package fleet

import (
	"strings"
	"syscall"

	"locus/config"
	"locus/config/etcd"
	"locus/test/secrecy"
)

// noSecretIsTold searches all output since the start for secrets, ends the processes, and searches their logs.
func (f *fleet) noSecretIsTold() {
	f.t.Helper()
	told := secrecy.Told{}
	for _, args := range [][]string{{"get"}, {"proxies", "list"}, {"routes", "history"}, {"config", "check"}, {"keys", "list"}, {"keys", "status"}, {"hot"}, {"jobs"}, {"verify"}} {
		out, _ := f.try(1, args...)
		told["locus "+strings.Join(args, " ")] = []byte(out)
	}
	db := f.db()
	for _, query := range []string{"SHOW PROCESSLIST", "SHOW VARIABLES", "SELECT * FROM locus.shards", "SELECT * FROM locus.proxies", "SELECT 1 FROM nowhere.nothing"} {
		told.Query(f.t, db, query)
	}
	admin, viewer := f.secrets["secrets/http"], f.secrets["secrets/http-vera"]
	for i := range f.proxies {
		told.Ask(f.t, f.browser(), f.page(i), secrecy.Login{}, secrecy.Login{User: "admin", Password: admin}, secrecy.Login{User: "vera", Password: viewer})
	}
	told.Arguments(f.t)
	f.stored(told)
	for _, p := range f.proxies {
		p.Signal(f.t, syscall.SIGTERM)
	}
	for _, p := range f.proxies {
		if err := p.Exit(f.t); err != nil {
			f.t.Errorf("%s, stopped, ended with %v", p.Name, err)
		}
	}
	told.Logs(f.t, f.dir)
	for _, p := range f.proxies {
		if len(told[p.Name+".log"]) == 0 {
			f.t.Errorf("%s has logged nothing", p.Name)
		}
	}
	secrets := map[string][]byte{}
	for name, secret := range f.secrets {
		secrets[name] = []byte(secret)
	}
	told.Look(f.t, secrets)
}

// stored reads etcd as a proxy does.
func (f *fleet) stored(told secrecy.Told) {
	f.t.Helper()
	c, err := config.Load(f.config(1))
	if err != nil {
		f.t.Fatal(err)
	}
	tls, err := c.Etcd.ClientTLS()
	if err != nil {
		f.t.Fatal(err)
	}
	client, err := etcd.Open(etcd.Config{Endpoints: f.endpoints(), Username: c.Etcd.Username, Password: c.Etcd.Password, TLS: tls})
	if err != nil {
		f.t.Fatal(err)
	}
	defer client.Close()
	told.Stored(f.t, client, c.Prefix())
}
