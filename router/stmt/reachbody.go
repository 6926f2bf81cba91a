package stmt

import "strings"

// body finds the statements of a program that reach the server, or run texts of their own making.
func (u units) body(r *Reach) {
	verb, begins := "", true // the first word of the current statement, and whether it comes next
	for i := range u {
		if u.marks(i - 1) {
			verb, begins = "", true
		}
		start, word := u.start(i), u.keyword(i)
		if begins || verb == "create" && u.at(i-1).char == ')' {
			verb, begins = word, false
		}
		switch {
		case word == "" || start == neverStarts || u.labels(i):
		case word == "set":
			if !assigning[verb] {
				r.server(u.assigns(i + 1))
			}
		case u.dynamic(i, start):
			r.Dynamic = strings.ToUpper(word)
		default:
			r.server(u.reaches(i, start))
		}
	}
}

func (r *Reach) server(words string) {
	if r.Server == "" {
		r.Server = strings.ToUpper(words)
	}
}

// starting is whether a statement of a program begins at a token.
type starting uint8

const (
	neverStarts starting = iota
	mayStart
	mustStart
)

// start derives from the token before i whether a statement begins at i.
func (u units) start(i int) starting {
	before := u.at(i - 1)
	switch {
	case i == 0:
		return mayStart
	case before.char == ';', before.char == ':' && u.at(i).word != "":
		return mustStart
	case before.char == ')', before.char == '>' && u.at(i-2).char == '>', before.literal != nil:
		return mayStart
	case before.char != 0:
		return neverStarts
	case !before.bare:
		return mayStart
	case u.is(i-2, "end"), strings.HasPrefix(before.word, "@"):
		return mayStart
	case before.word == "begin" && !u.is(i, "not"), before.word == "atomic", before.word == "loop":
		return mustStart
	case continues[before.word]:
		return neverStarts
	}
	return mayStart
}

// marks reports whether token i is one behind which a statement begins, or an expression of IF or CASE.
func (u units) marks(i int) bool {
	x := u.at(i)
	return x.char == ';' || x.char == ':' || x.bare && markers[x.word]
}

// labels reports whether token i is a label.
func (u units) labels(i int) bool { return u.at(i+1).char == ':' && u.at(i+2).char != '=' }

var (
	markers = set("begin atomic then else do loop repeat row")
	// continues are words that a name or an expression follows.
	continues = set(`select distinct from where and or xor not by set on in like between when join into values using table tables column index key
		default declare having limit group order update insert delete call case if elseif while until return leave iterate open fetch close end
		procedure function trigger event view exists user div mod is interval next`)
	// assigning are verbs of statements that have a SET of their own.
	assigning = set("update insert replace signal resignal")
	// mayBegin are first words of the statements that a program may contain.
	mayBegin = set(`select values with table insert replace update delete do call set signal resignal get truncate return leave iterate open fetch close
		declare begin if case while loop repeat for end elseif else until when analyze check optimize checksum create alter drop rename show start
		commit rollback savepoint release explain describe desc handler flush exit continue goto null raise exception cursor type pragma procedure
		function not`)
	// verbs are first words of statements that a program must not have, by the words that follow; without those: whatever does.
	verbs = map[string]map[string]bool{
		"grant": nil, "revoke": nil, "kill": nil, "purge": nil, "use": nil,
		"create": accounts, "alter": accounts, "drop": accounts, "rename": set("user"),
		"install": set("plugin component soname"), "uninstall": set("plugin component soname"),
		"change": set("master replication"), "reset": set("master slave replica replicas binary persist query connection"),
		"start": set("slave replica replicas group_replication all"), "stop": set("slave replica replicas group_replication all"),
		"load": set("data xml index"), "clone": set("local instance"), "import": set("table"), "cache": set("index"),
		"backup": set("stage lock unlock"), "lock": set("table tables instance"), "unlock": set("table tables instance"),
		"xa":    set("start begin end prepare commit rollback recover"),
		"flush": set("privileges hosts logs binary relay error engine general slow optimizer_costs des_key_file ssl local no_write_to_binlog user_resources query"),
	}
	// accounts are the objects outside of databases.
	accounts = set("user role server tablespace instance undo logfile resource library masking")
	// alone are verbs that end with themselves.
	alone = set("shutdown restart")
	// behindColumns are words that follow a column of an expression, and no verb.
	behindColumns = set("end when else then and or xor as from is in not like between where group order having limit union div mod collate join on asc desc for into using")
)

// dynamic reports whether a statement that runs or makes a prepared text begins at token i.
func (u units) dynamic(i int, start starting) bool {
	if !u.is(i, "execute", "prepare", "deallocate") {
		return false
	}
	next := u.at(i + 1)
	return start == mustStart || next.word != "" && !(next.bare && behindColumns[next.word])
}

// reaches returns the words of a statement at token i that reaches the server, or "".
func (u units) reaches(i int, start starting) string {
	word, next := u[i].word, u.at(i+1)
	switch followers, known := verbs[word]; {
	case word == "show":
		if !u.shows(i + 1) {
			return word
		}
	case word == "use" && u.is(i+1, "index", "key"): // a hint
	case known && followers == nil:
		return word
	case word == "create" || word == "alter" || word == "drop":
		if object, _ := u.object(i); accounts[object] || start == mustStart && !definable[object] {
			return word + " " + object
		}
	case known && next.bare && followers[next.word]:
		return word + " " + next.word
	case word == "flush" && u.is(i+1, "table", "tables") && u.flushLocks(i+2):
		return "flush tables with read lock"
	case word == "binlog" && (next.literal != nil || strings.HasPrefix(next.word, "@")):
		return word
	case alone[word] && (i+1 == len(u) || next.char == ';' || next.bare && !behindColumns[next.word] && next.word != "with"):
		return word
	case next.char == ':': // x := 1, as in sql_mode ORACLE
		return u.target(i)
	case start == mustStart && !mayBegin[word] && next.char != '(' && next.char != '.' && next.char != ';' && !strings.HasPrefix(word, "@"):
		return word
	case start == mustStart && word == "rename" && !u.is(i+1, "table", "tables"):
		return word
	}
	return ""
}

// flushLocks reports whether FLUSH TABLES locks them, up to the end of the statement.
func (u units) flushLocks(i int) bool {
	for ; i < len(u) && u[i].char != ';'; i++ {
		if u.is(i, "with", "for") {
			return true
		}
	}
	return false
}

// assigns returns the words by which SET, whose targets begin at i, reaches beyond the session, or "".
func (u units) assigns(i int) string {
	if u.is(i, "statement") {
		i++
	}
	target := true
	for depth := 0; i < len(u) && (u[i].char != ';' || depth > 0); i++ {
		if target && depth == 0 {
			if words := u.target(i); words != "" {
				return words
			}
		}
		target = false
		switch u[i].char {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			target = depth == 0
		}
	}
	return ""
}

// target returns the words of a target of SET at i that is not the session's own, or "".
func (u units) target(i int) string {
	if u.is(i, "session", "local") {
		i++
	}
	name := u.at(i).word
	switch {
	case strings.HasPrefix(name, "@@"):
		if name = name[2:]; name == "" { // @@ `global`, or a blank between
			i++
			name = u.at(i).word
		}
		if (name == "session" || name == "local") && u.at(i+1).char == '.' {
			i += 2
			name = u.at(i).word
		}
	case strings.HasPrefix(name, "@"): // a user variable
		return ""
	case u.assigned(i) && (name == "role" || name == "default" || name == "resource"): // a variable of the program
		return ""
	case name == "password" || name == "role" || name == "resource" || name == "default":
		return "set " + name
	}
	switch {
	case name == "global" || name == "persist" || name == "persist_only":
		return "set " + name
	case replicates[name] && u.at(i+1).char != '.':
		return "set " + name
	}
	return ""
}

// assigned reports whether = or := follows.
func (u units) assigned(i int) bool {
	next := u.at(i + 1).char
	return next == '=' || next == ':'
}

// replicates are a session's variables on which the binary log, other servers, or files of the server depend.
var replicates = set(`sql_log_bin sql_log_off gtid_domain_id gtid_seq_no gtid_next server_id pseudo_slave_mode pseudo_replica_mode pseudo_thread_id
	original_commit_timestamp original_server_version immediate_server_version default_master_connection skip_replication skip_parallel_replication
	sql_slave_skip_counter max_relay_log_size require_row_format log_disabled_statements log_slow_disabled_statements redirect_url
	rand_seed1 rand_seed2 binlog_format binlog_row_image binlog_row_value_options binlog_direct_non_transactional_updates binlog_annotate_row_events
	binlog_alter_two_phase binlog_rows_query_log_events binlog_transaction_compression binlog_transaction_compression_level_zstd
	transaction_write_set_extraction rbr_exec_mode innodb_tmpdir innodb_ft_user_stopword_table wsrep_on wsrep_osu_method wsrep_gtid_seq_no
	wsrep_trx_fragment_size wsrep_trx_fragment_unit debug debug_dbug debug_sync connection_memory_limit xa_detach_on_prepare`)
