package switchover

import "testing"

// An error of the applier is reported without the statement that failed.
func TestWithoutQuery(t *testing.T) {
	for said, want := range map[string]string{
		"Error 'Table 'shop.a' doesn't exist' on query. Default database: 'shop'. Query: 'INSERT INTO a VALUES ('secret')'": "Error 'Table 'shop.a' doesn't exist' on query. Default database: 'shop'. (its text is in SHOW REPLICA STATUS)",
		"Could not execute Write_rows event on table shop.a; handler error HA_ERR_FOUND_DUPP_KEY":                           "Could not execute Write_rows event on table shop.a; handler error HA_ERR_FOUND_DUPP_KEY",
		"": "",
	} {
		if got := withoutQuery(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}
