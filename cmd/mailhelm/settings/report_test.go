package settings

import "testing"

func TestConcealURL(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"":                                  "",
		"postgres://db/x":                   "postgres://db/x",
		"postgres://user@db/x":              "postgres://user@db/x",
		"postgres://user:secret@db:5432/x":  "postgres://user:hidden@db:5432/x",
		"postgres://db/x?password=secret":   "postgres://db/x?password=hidden",
		"postgres://db/x?sslmode=require":   "postgres://db/x?sslmode=require",
		"postgres:///x?host=/run/pg&user=u": "postgres:///x?host=%2Frun%2Fpg&user=u",
		"host=db password=secret":           hidden,
		"postgres://u:secret@%zz/x":         hidden,
		"redis://:secret@redis:6379/0":      "redis://:hidden@redis:6379/0",
		"rediss://user:secret@redis":        "rediss://user:hidden@redis",
		"secret":                            hidden,
		"postgres:u:secret@db/x?a=b":        hidden,
	} {
		if got := ConcealURL(raw); got != want {
			t.Errorf("%s: got %s, want %s", raw, got, want)
		}
	}
}
