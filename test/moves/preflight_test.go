package moves

import (
	"slices"
	"strings"
	"testing"

	"locus/idgen/gene"
	"locus/internal/test/servers"
	"locus/migrate/link"
	"locus/migrate/preflight"
	"locus/router/catalog"
)

func (p *pair) look(tables map[catalog.TableName]catalog.Declaration) []string {
	p.t.Helper()
	r, err := preflight.Look(p.t.Context(), preflight.Config{
		Source: at(p.source), Target: at(p.target), Tables: tables, Width: gene.W16, Genes: moving(1).All(),
	})
	if err != nil {
		p.t.Fatal(err)
	}
	var found []string
	for _, problem := range r.Problems {
		if problem.Remedy == "" {
			p.t.Errorf("no remedy: %s", problem)
		}
		found = append(found, problem.String())
	}
	return found
}

// TestPreflightPasses checks that the preflight reports no problem for tables without one.
func TestPreflightPasses(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		p.tables()
		tables := map[catalog.TableName]catalog.Declaration{}
		for name, d := range orders {
			tables[p.name(name)] = d
		}
		if found := p.look(tables); len(found) > 0 {
			t.Errorf("found:\n%s", strings.Join(found, "\n"))
		}
	})
}

// All obstacles are reported at once.
func TestPreflightTellsAll(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		args := []string{"--binlog-row-image=MINIMAL", "--binlog-expire-logs-seconds=3600"}
		target, logged := servers.Start(t, engine, 1, args...)[0], []string(nil)
		args = append(args, "--skip-log-bin")
		if engine == servers.MariaDB {
			args, logged = append(args, "--binlog-format=STATEMENT"), []string{`log: the source has binlog_format = "STATEMENT", and "ROW" is needed: SET GLOBAL binlog_format`}
		} else {
			args, logged = append(args, "--gtid-mode=OFF"), []string{`log: the source has gtid_mode = "OFF", and "ON" is needed: SET GLOBAL gtid_mode = OFF_PERMISSIVE`}
		}
		source := servers.Start(t, engine, 1, args...)[0]
		both := []*servers.Server{source, target}
		p := &pair{t: t, engine: engine, source: source, target: target, database: "own"}
		for _, s := range both {
			s.Exec(t, "CREATE DATABASE own")
		}
		p.both(
			"CREATE TABLE apart (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL)",
			"CREATE TABLE parent (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, v INT)",
			"CREATE TABLE child (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, parent_id BIGINT, FOREIGN KEY (parent_id) REFERENCES parent (id) ON DELETE CASCADE, other BIGINT, FOREIGN KEY (other) REFERENCES apart (id))",
			"CREATE TABLE grandchild (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, child_id BIGINT, FOREIGN KEY (child_id) REFERENCES child (id) ON DELETE CASCADE)",
			"CREATE TABLE keyless (id BIGINT NOT NULL, owner BIGINT NOT NULL)",
			"CREATE TABLE halfkeyed (id BIGINT NOT NULL, owner BIGINT NOT NULL, v BIGINT, w VARCHAR(10) NOT NULL, UNIQUE KEY (id, v), UNIQUE KEY (w(3)))",
			"CREATE TABLE keyed (id BIGINT NOT NULL, owner BIGINT NOT NULL, UNIQUE KEY (id))",
			"CREATE TABLE dropped (id BIGINT NOT NULL, owner BIGINT NOT NULL, PRIMARY KEY (id), UNIQUE KEY by_id (id))",
			"CREATE TABLE aria (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL) ENGINE=MyISAM",
			"CREATE TABLE differs (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, v VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)")
		p.on(p.target, "ALTER TABLE dropped DROP PRIMARY KEY")
		p.on(p.target, "ALTER TABLE differs MODIFY v VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
			"CREATE TABLE absent (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL)",
			"CREATE TRIGGER t BEFORE INSERT ON parent FOR EACH ROW SET NEW.v = 1",
			"INSERT INTO parent VALUES ("+idOf(1, 1)+", 1, 1)",
			"SET GLOBAL max_allowed_packet = 1048576")
		unknown := map[servers.Engine]string{servers.MariaDB: "INET6", servers.MySQL: "VECTOR(3)"}[engine]
		p.both("CREATE TABLE kinds (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, v " + unknown + ")")
		tables := map[catalog.TableName]catalog.Declaration{}
		for _, name := range []string{"parent", "child", "grandchild", "keyless", "halfkeyed", "keyed", "dropped", "aria", "differs", "kinds", "absent"} {
			tables[p.name(name)] = byID
		}
		found := p.look(tables)
		for _, want := range append(logged,
			`log: the source has log_bin = "OFF", and "ON" is needed: set log_bin`, "log: the source has binlog_row_image", "log: the target has binlog_row_image",
			"log: the source keeps its log for 1h0m0s", "settings: the target takes statements of 1048576",
			"the source: table own.absent does not exist", "table own.keyless: it has no primary key, and no unique key", "table own.halfkeyed: it has no primary key, and no unique key", "table own.dropped: the rows' key is PRIMARY (`id`) at the source and by_id (`id`) at the target",
			"table own.kinds: column v is", "table own.aria has engine MyISAM", "table own.differs: column 3 is",
			"ties own.child to own.apart",
			"trigger t of table own.parent at the target", "the target has rows of the moving genes in own.parent",
		) {
			if !slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, want) }) {
				t.Errorf("nothing says %q in\n%s", want, strings.Join(found, "\n"))
			}
		}
		for _, fine := range []string{"own.keyed", "own.grandchild"} { // a unique key, and a cascade over two levels
			if strings.Contains(strings.Join(found, "\n"), fine) {
				t.Errorf("%s is refused:\n%s", fine, strings.Join(found, "\n"))
			}
		}
	})
}

// TestPreflightOfAnImport: an import from outside has further checks, and a column that it creates itself may be
// missing.
func TestPreflightOfAnImport(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		p.on(p.source, "CREATE TABLE person (id INT AUTO_INCREMENT PRIMARY KEY, owner BIGINT NOT NULL, mail VARCHAR(20))",
			"CREATE TABLE loose (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, mail VARCHAR(20) NOT NULL UNIQUE)",
			"CREATE TABLE spelled (id INT AUTO_INCREMENT PRIMARY KEY, owner VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL)")
		p.source.Exec(t, "CREATE USER bare@'%' IDENTIFIED BY 'bare'", "GRANT REPLICATION SLAVE ON *.* TO bare@'%'", "GRANT SELECT, INSERT, UPDATE, DELETE ON "+p.database+".* TO bare@'%'")
		defer p.source.Exec(t, "DROP USER bare@'%'")
		bare := at(p.source)
		bare.User, bare.Password = "bare", "bare"
		own := catalog.Declaration{Kind: catalog.Sharded, Owner: "owner"}
		look := func(source link.Server, tables ...string) string {
			t.Helper()
			declared := map[catalog.TableName]catalog.Declaration{}
			for _, name := range tables {
				declared[p.name(name)] = own
			}
			r, err := preflight.Look(t.Context(), preflight.Config{
				Source: source, Target: at(p.target), Tables: declared, Width: gene.W16, Genes: moving(1).All(), Import: true, Outside: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, problem := range r.Problems {
				found = append(found, problem.String())
			}
			return strings.Join(found, "\n")
		}
		if found := look(at(p.source), "person"); found != "" {
			t.Errorf("found:\n%s", found)
		}
		found := look(bare, "person", "loose", "spelled")
		if told := strings.Contains(found, "GRANT XA_RECOVER_ADMIN"); told != (p.engine == servers.MySQL) {
			t.Errorf("that branches are not listed is told: %v, in\n%s", told, found)
		}
		for _, want := range []string{
			"ALTER (for the column for the gene), CREATE (for its index), LOCK TABLES (for the switch) on " + p.database + ".person of the source",
			"unique key PRIMARY of table " + p.database + ".loose", "unique key mail of table " + p.database + ".loose",
			"makes different spellings of an owner equal",
		} {
			if !strings.Contains(found, want) {
				t.Errorf("nothing says %q in\n%s", want, found)
			}
		}
	})
}

// If an account lacks privileges, the error names them.
func TestPreflightPrivileges(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		p.tables()
		p.source.Exec(t, "CREATE USER poor@'%' IDENTIFIED BY 'poor'", "GRANT SELECT ON "+p.database+".* TO poor@'%'")
		defer p.source.Exec(t, "DROP USER poor@'%'")
		server := at(p.source)
		server.User, server.Password = "poor", "poor"
		r, err := preflight.Look(t.Context(), preflight.Config{
			Source: server, Target: at(p.target), Tables: map[catalog.TableName]catalog.Declaration{p.name("orders"): orders["orders"]},
			Width: gene.W16, Genes: moving(1).All(),
		})
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, problem := range r.Problems {
			found = append(found, problem.String())
		}
		all := strings.Join(found, "\n")
		for _, want := range []string{"no REPLICATION SLAVE", "REPLICATION CLIENT", "lack INSERT, UPDATE, DELETE on " + p.database + ".orders", "GRANT PROCESS"} {
			if !strings.Contains(all, want) {
				t.Errorf("nothing says %q in\n%s", want, all)
			}
		}
	})
}
