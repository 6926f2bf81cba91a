package switchover

import "testing"

const (
	one   = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
	other = "4e11fa47-71ca-11e1-9e33-c80aa9429562"
)

func TestAllIsWhatAServerHasAndWasSent(t *testing.T) {
	for name, c := range map[string]struct {
		v    View
		want string
	}{
		"mysql":             {View{Has: one + ":1-10", Received: one + ":5-12"}, one + ":1-12"},
		"a gap":             {View{Has: one + ":1-10:13", Received: one + ":11-12:14-15"}, one + ":1-15"},
		"another origin":    {View{Has: other + ":1-3", Received: one + ":1"}, one + ":1," + other + ":1-3"},
		"nothing":           {View{Received: one + ":1"}, one + ":1"},
		"mariadb":           {View{MariaDB: true, Has: "0-1-10,0-2-12", Received: "0-1-11"}, "0-1-11,0-2-12"},
		"mariadb, behind":   {View{MariaDB: true, Has: "0-1-10", Received: "0-1-9"}, "0-1-10"},
		"mariadb, received": {View{MariaDB: true, Has: "0-1-9", Received: "0-1-10,1-1-4"}, "0-1-10,1-1-4"},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.v.All()
			for _, pair := range [][2]string{{got, c.want}, {c.want, got}} {
				if missing, err := Missing(c.v.MariaDB, pair[0], pair[1]); missing != "" || err != nil {
					t.Errorf("%s, want %s: %s, %v", got, c.want, missing, err)
				}
			}
		})
	}
}

func TestSkipped(t *testing.T) {
	for name, c := range map[string]struct {
		view    View
		primary string
		want    string
	}{
		"left out":                 {View{MariaDB: true, Identity: "7", Has: "0-7-85,0-9-1467"}, "0-7-86,0-9-1377", "0-7-86"},
		"left out, not applied":    {View{MariaDB: true, Identity: "7", Has: "0-7-85", Received: "0-9-1467"}, "0-7-86,0-9-1377", "0-7-86"},
		"not sent yet":             {View{MariaDB: true, Identity: "7", Has: "0-7-85"}, "0-7-86,0-9-1377", ""},
		"another one's":            {View{MariaDB: true, Identity: "8", Has: "0-7-85,0-9-1467"}, "0-7-86,0-9-1377", ""},
		"of another domain":        {View{MariaDB: true, Identity: "7", Has: "0-7-85,1-9-1467"}, "0-7-86,0-9-1377", ""},
		"it has all":               {View{MariaDB: true, Identity: "7", Has: "0-7-86,0-9-1377"}, "0-7-86,0-9-1377", ""},
		"nothing is known":         {View{MariaDB: true, Identity: "7", Has: "0-7-86,0-9-1377"}, "", ""},
		"MySQL takes nothing back": {View{Identity: "7", Has: "x"}, "0-7-86", ""},
	} {
		if got := c.view.Skipped(c.primary); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
