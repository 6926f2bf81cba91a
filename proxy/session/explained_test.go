package session_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestExplainShowsWhatIsSent compares the texts that EXPLAIN prints for shards with those that the shards are sent. It does so
// before, during and after a step that changes the owner of rows.
func TestExplainShowsWhatIsSent(t *testing.T) {
	for name, preparing := range map[string]string{
		"at rest": "", "announced": "do announce\n", "in part": "do announce\ndo fence\ndo hand over\n",
	} {
		t.Run(name, func(t *testing.T) {
			for _, text := range []string{
				"SELECT id FROM orders WHERE user_id = 1",
				"SELECT id FROM orders WHERE user_id = 3",
				"SELECT id FROM orders WHERE user_id IN (1, 2, 3)",
				"SELECT id FROM orders",
				"SELECT id FROM orders WHERE amount > 5 LIMIT 2, 10",
				"SELECT id FROM orders ORDER BY id LIMIT 3",
				"SELECT COUNT(*) FROM orders WHERE amount > 5",
				"SELECT id FROM orders WHERE user_id = 1 UNION ALL SELECT id FROM orders WHERE user_id = 3 AND amount > 5 LIMIT 4",
				"SELECT id FROM orders UNION ALL SELECT id FROM orders WHERE amount = 1 OR amount = 2",
				"UPDATE orders SET amount = 1 WHERE user_id = 1",
				"UPDATE orders SET amount = 1 WHERE user_id IN (1, 5)",
				"UPDATE orders SET amount = 1 WHERE amount = 7 OR amount = 8",
				"DELETE FROM orders WHERE user_id = 3",
				"DELETE FROM orders WHERE user_id IN (1, 2, 3) AND amount > 5",
				"DELETE FROM orders WHERE amount > 5",
			} {
				played := play(t, "all: always SELECT -> "+columnsOf(text)+"\n"+preparing+"> EXPLAIN "+text+"\n> "+text)
				explained, run, _ := strings.Cut(played, "\n> "+text+"\n")
				shown, sent := textsOf(explained, text), sentOf(run, text)
				if strings.Contains(run, "= error") != strings.Contains(explained, "| refused") {
					t.Errorf("%s: only one of EXPLAIN and the statement is refused:\n%s", text, played)
				}
				if fmt.Sprint(shown) != fmt.Sprint(sent) && !strings.Contains(run, "= error") {
					t.Errorf("EXPLAIN shows\n%v\nand sent is\n%v\n%s", shown, sent, played)
				}
			}
		})
	}
}

// columnsOf returns an answer with as many columns as a shard's answer has.
func columnsOf(text string) string {
	if strings.Contains(text, "ORDER BY") || strings.Contains(text, "UNION ALL") {
		return "id, h | 1, 1"
	}
	return "id | 1"
}

// textsOf returns the texts that EXPLAIN prints, by shard.
func textsOf(explained, text string) map[string]string {
	texts, shared := map[string]string{}, text
	var shards []string
	for line := range strings.SplitSeq(explained, "\n") {
		if list, is := strings.CutPrefix(line, "  | shards, "); is {
			shards = strings.Split(list, ", ")
		}
		if printed, is := strings.CutPrefix(line, "  | text, "); is {
			if shard, own, is := strings.Cut(printed, ": "); is && len(shard) == 2 {
				texts[shard] = strings.TrimSpace(own)
			} else {
				shared = strings.TrimSpace(printed)
			}
		}
	}
	for _, shard := range shards {
		if texts[shard] == "" {
			texts[shard] = shared
		}
	}
	return texts
}

// sentOf returns the texts that shards were sent, by shard, without those that only accompany the statement.
func sentOf(run, text string) map[string]string {
	verb, _, _ := strings.Cut(text, " ")
	texts := map[string]string{}
	for line := range strings.SplitSeq(run, "\n") {
		shard, sent, is := strings.Cut(strings.TrimPrefix(line, "  "), ": ")
		if is && strings.HasPrefix(line, "  s") && strings.HasPrefix(sent, verb) && !strings.Contains(sent, " FOR UPDATE") && sent != "SELECT FOUND_ROWS()" {
			texts[shard] = strings.TrimSpace(sent)
		}
	}
	return texts
}
