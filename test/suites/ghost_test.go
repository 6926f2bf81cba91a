package suites

import (
	"strings"
	"testing"
)

// ghostCannotBeSharded declares tables of Ghost as sharded. Their keys are texts without regard to letter case, and they have foreign keys to
// tables that are not on every shard. The refusal names both, and nothing is changed.
func ghostCannotBeSharded(t *testing.T, at place) {
	t.Helper()
	db := at.DB(t, at.database)
	for table, c := range map[string]struct{ owner, key string }{
		"comments": {"post_id", "comments_member_id_foreign"}, "posts_meta": {"post_id", "posts_meta_post_id_foreign"},
		"posts_tags": {"post_id", "posts_tags_tag_id_foreign"}, "members_labels": {"member_id", "members_labels_label_id_foreign"},
		"members_newsletters": {"member_id", "members_newsletters_newsletter_id_foreign"},
	} {
		text := "ALTER TABLE " + table + " COMMENT 'locus: owner=" + c.owner + "'"
		_, err := db.ExecContext(t.Context(), text)
		if err == nil {
			t.Errorf("%s: no error", text)
			continue
		}
		for _, says := range []string{"locus-1010", "column " + c.owner, "makes different spellings of an owner equal", "foreign key " + c.key + " refers to table ghost."} {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v, want %q", text, err, says)
			}
		}
	}
	if said := column(t, db, "SELECT COALESCE(GROUP_CONCAT(TABLE_NAME), '') FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_COMMENT LIKE 'locus:%'"); said[0] != "" {
		t.Errorf("comments declare %s", said[0])
	}
}
