package stmt

import (
	"math"
	"slices"
)

// ForOneStatement are the variables that a hint, or SET STATEMENT, may set for one statement. They limit the resources of a
// statement, or change how a server runs it, and don't affect its answer. A session may set each of them.
var ForOneStatement = set(`big_tables bulk_insert_buffer_size eq_range_index_dive_limit expensive_subquery_limit
	histogram_generation_max_mem_size in_predicate_conversion_threshold innodb_lock_wait_timeout
	internal_tmp_mem_storage_engine join_buffer_size join_buffer_space_limit join_cache_level lock_wait_timeout
	log_slow_query log_slow_query_time long_query_time max_execution_time max_heap_table_size max_length_for_sort_data
	max_rowid_filter_size max_seeks_for_key max_statement_time max_tmp_tables min_examined_row_limit mrr_buffer_size
	myisam_sort_buffer_size optimizer_max_subgraph_pairs optimizer_prune_level optimizer_search_depth
	optimizer_selectivity_sampling_limit optimizer_switch optimizer_use_condition_selectivity query_alloc_block_size
	query_cache_type query_prealloc_size range_alloc_block_size range_optimizer_max_mem_size read_buffer_size
	read_rnd_buffer_size rowid_merge_buff_size slow_query_log sort_buffer_size sql_buffer_result tmp_disk_table_size
	tmp_memory_table_size tmp_table_size use_stat_tables`)

// limitable are the statements that are read without the SET STATEMENT before them.
var limitable = set("select insert replace update delete with values table")

// limited checks the text after the word SET at the start. If it is MariaDB's STATEMENT name = constant, … FOR with variables
// that don't affect an answer, before a statement on rows, the whole prefix is skipped, as hints are. Shards get it with the
// text, but the parsed statement doesn't contain it.
func (l *Lexed) limited(at int) {
	word := func(is string) bool {
		from := at + besides(l.Text[at:])
		end := wordEnd(l.Text, from)
		if !isWord(l.Text[from:end], is) {
			return false
		}
		at = end
		return true
	}
	if !word("statement") {
		return
	}
	for {
		from := at + besides(l.Text[at:])
		at = wordEnd(l.Text, from)
		if !ForOneStatement[lower(string(l.Text[from:at]))] {
			return
		}
		if at = l.constantEnd(at); at < 0 {
			return
		}
		if from = at + besides(l.Text[at:]); from < len(l.Text) && l.Text[from] == ',' {
			at = from + 1
			continue
		}
		if !word("for") {
			return
		}
		break
	}
	from := at + besides(l.Text[at:])
	if limitable[lower(string(l.Text[from:wordEnd(l.Text, from)]))] || from < len(l.Text) && l.Text[from] == '(' {
		l.limitEnd = at
	}
}

// constantEnd returns the end of = and a constant, or -1.
func (l *Lexed) constantEnd(at int) int {
	at += besides(l.Text[at:])
	if at == len(l.Text) || l.Text[at] != '=' {
		return -1
	}
	at++
	at += besides(l.Text[at:])
	if at < len(l.Text) && l.Text[at] == '-' {
		at++
	}
	from := at
	switch {
	case at == len(l.Text):
	case l.Text[at] == '\'':
		return quotedEnd(l.Text, at, l.Mode&NoBackslash == 0)
	case l.Text[at] == '.' || inName(l.Text[at]):
		for at < len(l.Text) && (l.Text[at] == '.' || inName(l.Text[at])) {
			at++
		}
		if at > from && !isWord(l.Text[from:at], "for") {
			return at
		}
	}
	return -1
}

// ForStatement reads MariaDB's SET STATEMENT name = value, … FOR. It returns the variables' names in lower case. ok is
// false if it can't be read whole, which requires plain constants as values. there reports whether the text begins with
// SET STATEMENT.
func (l *Lexed) ForStatement() (names []string, there, ok bool) {
	r := lexemeReader{l: l, list: l.lexemes(math.MaxInt)}
	if !r.takes("set", "statement") {
		return nil, false, true
	}
	for {
		if r.peek().kind != bareWord {
			return nil, true, false
		}
		name, _ := r.name()
		names = append(names, lower(name))
		if !r.takesChar('=') || !r.constant() {
			return nil, true, false
		}
		switch {
		case r.takesChar(','):
		case r.takes("for"):
			return names, true, true
		default:
			return nil, true, false
		}
	}
}

// SetsForOne reports whether the text begins with SET STATEMENT, of variables other than [ForOneStatement].
func (l *Lexed) SetsForOne() bool {
	names, there, _ := l.ForStatement()
	return there && slices.ContainsFunc(names, func(name string) bool { return !ForOneStatement[name] })
}

// constant skips a literal or a word.
func (r *lexemeReader) constant() bool {
	r.takesChar('-')
	x := r.next()
	return x.kind == literalLexeme || x.kind == bareWord && !isWord(r.l.Text[x.start:x.end], "for")
}

// AnyWords calls f with every word of the text in lower case, including those within strings, comments and hints.
func (l *Lexed) AnyWords(f func(word string)) {
	for i := 0; i < len(l.Text); {
		if !inName(l.Text[i]) {
			i++
			continue
		}
		end := i
		for end < len(l.Text) && inName(l.Text[end]) {
			end++
		}
		f(lower(string(l.Text[i:end])))
		i = end
	}
}
