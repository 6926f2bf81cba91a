package sysvars

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"locus/proxy/backend"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/stmt"
)

// Values contains the session's values of everything that SET can assign. A SET makes new Values and replaces the old ones.
type Values struct {
	Settings   *backend.Settings // set on every connection that serves the session
	Mode       stmt.Mode         // how texts are parsed
	Foreign    bool              // the client's character set is not UTF-8
	Autocommit bool
	InsertID   uint64 // LAST_INSERT_ID()
	ForcedID   uint64 // insert_id: the ID of the next INSERT into a table that is not sharded
	Reads      ReadsFrom
	Partial    bool             // locus_partial = 'on'
	Shard      router.ShardName // locus_shard: statements are sent to this shard, wherever rows belong; empty if none is set
	Context    Context
	ignored    map[string]string // the values of ignored variables; the map is immutable
}

// Carry sets the session's settings. Their character set determines how texts are parsed.
func (v *Values) Carry(settings *backend.Settings) {
	v.Settings = settings
	charset := v.Charset()
	v.Foreign = !utf8Charsets[charset]
	v.Mode = v.Mode&^stmt.Reading | readingMode(charset)
}

// Charset returns the character set of the client's texts.
func (v *Values) Charset() string {
	if client, ok := v.Settings.Lookup(characterSetClient); ok {
		return strings.ToLower(unquote(client))
	}
	charset, _ := v.Settings.Names()
	return charset
}

// Results returns the encoding of the client's answers.
func (v *Values) Results() wire.Wide {
	literal, _ := v.Settings.Lookup(characterSetResults)
	name := strings.ToLower(unquote(literal))
	if named, is := wideCollations[name]; is {
		name = named
	}
	return wire.WideOf(name)
}

// wideCollations are the default collations of the wide character sets. Their numbers represent the sets.
var wideCollations = map[string]string{"35": "ucs2", "54": "utf16", "56": "utf16le", "60": "utf32"}

// TimeLimit returns the longest time of a statement that the session has set in the variables of the servers, or 0. max_execution_time is in
// milliseconds, and max_statement_time in seconds.
func (v *Values) TimeLimit() time.Duration {
	for name, unit := range map[string]time.Duration{"max_execution_time": time.Millisecond, "max_statement_time": time.Second} {
		if literal, ok := v.Settings.Lookup(name); ok {
			if n, err := strconv.ParseFloat(unquote(literal), 64); err == nil && n > 0 && n < 1e9 {
				return time.Duration(n * float64(unit))
			}
		}
	}
	return 0
}

// The variables that limit waits for the client.
const (
	waitTimeout     = "wait_timeout"
	netWriteTimeout = "net_write_timeout"
	netReadTimeout  = "net_read_timeout"
)

// IdleLimit returns the session's wait_timeout: how long the client may be idle between commands. 0 means the proxy's general limit.
func (v *Values) IdleLimit() time.Duration { return v.limit(waitTimeout) }

// WriteLimit returns the session's net_write_timeout: how long the client may read nothing of an answer. 0 means the general limit.
func (v *Values) WriteLimit() time.Duration { return v.limit(netWriteTimeout) }

// ReadLimit returns the session's net_read_timeout: how long the client may send nothing in the middle of a command. 0 means the
// general limit.
func (v *Values) ReadLimit() time.Duration { return v.limit(netReadTimeout) }

// limit returns the time that a variable was set to, or 0.
func (v *Values) limit(name string) time.Duration {
	n, err := strconv.ParseUint(v.ignored[name], 10, 32)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}

// ReadsOnly reports whether the session's transactions are read only by default.
func (v *Values) ReadsOnly() bool {
	for _, name := range readOnlyNames {
		if literal, set := v.Settings.Lookup(name); set && literal != "0" {
			return true
		}
	}
	return false
}

// Writing returns the settings without those that make transactions read only.
func (v *Values) Writing() *backend.Settings {
	settings := v.Settings
	for _, name := range readOnlyNames {
		settings = settings.Without(name)
	}
	return settings
}

// SetsTime reports whether the session has set the time of its statements.
func (v *Values) SetsTime() bool {
	literal, set := v.Settings.Lookup("timestamp")
	return set && literal != "0" && !isDefault(literal)
}

// WithTime returns settings with t as the time of statements.
func WithTime(settings *backend.Settings, t time.Time) *backend.Settings {
	return settings.With("timestamp", fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000))
}

// TimeZone returns the session's time zone in capitals, or "" if the session uses a shard's.
func (v *Values) TimeZone() string {
	literal, _ := v.Settings.Lookup("time_zone")
	zone := strings.ToUpper(unquote(literal))
	if zone == "SYSTEM" || zone == defaultValue {
		return ""
	}
	return zone
}

// QuotesUTF8 reports whether literals are UTF-8.
func (v *Values) QuotesUTF8() bool {
	charset, set := v.Settings.Lookup(characterSetConnection)
	return !v.Foreign && (!set || strings.HasPrefix(strings.ToLower(unquote(charset)), "utf8mb4"))
}

// LimitsRows reports whether the client has limited its answers by sql_select_limit. Each shard would apply that limit by itself.
func (v *Values) LimitsRows() bool {
	limit, set := v.Settings.Lookup("sql_select_limit")
	return set && !isDefault(limit) && limit != strconv.FormatUint(math.MaxUint64, 10)
}

// SafeUpdates reports whether the client has set sql_safe_updates, so that servers refuse changes that use no key.
func (v *Values) SafeUpdates() bool {
	literal, set := v.Settings.Lookup("sql_safe_updates")
	return set && !isDefault(literal) && !slices.Contains([]string{"0", "OFF", "FALSE"}, strings.ToUpper(strings.Trim(literal, "'")))
}

// ignore records the value of an ignored variable.
func (v *Values) ignore(name, literal string) {
	ignored := maps.Clone(v.ignored)
	if ignored == nil {
		ignored = map[string]string{}
	}
	ignored[name] = literal
	if literal == defaultValue {
		delete(ignored, name)
	}
	v.ignored = ignored
}

// mergeComputed adds the changes that the expressions of a SET have made themselves, by functions that assign variables.
func (v *Values) mergeComputed(before, after *backend.Settings) {
	if before == after {
		return
	}
	for _, a := range after.Assignments() {
		was, _ := before.Lookup(a.Name)
		if mine, _ := v.Settings.Lookup(a.Name); mine == was && a.Literal != was {
			v.Settings = v.Settings.With(a.Name, a.Literal)
		}
	}
}

const defaultValue = "DEFAULT"

func isDefault(literal string) bool { return strings.EqualFold(literal, defaultValue) }

func unquote(literal string) string { return strings.Trim(literal, "'") }

// switched returns a constant without quotes. It replaces the words for on and off by 1 and 0.
func switched(literal string) string {
	word := unquote(literal)
	switch strings.ToLower(word) {
	case "on", "true":
		return "1"
	case "off", "false", "no_chain": // the last one is a value of completion_type
		return "0"
	}
	return word
}
