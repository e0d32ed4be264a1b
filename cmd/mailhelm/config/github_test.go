package config

import "testing"

func TestCheckGitHub(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		settings GitHub
		ok       bool
	}{
		"none":                 {GitHub{}, true},
		"address only":         {GitHub{URL: "https://github.example"}, true},
		"app":                  {GitHub{App: 1, Key: "app.pem"}, true},
		"all":                  {GitHub{App: 1, Key: "app.pem", ClientSecret: "s", WebhookSecret: "0123456789abcdef"}, true},
		"negative id":          {GitHub{App: -1, Key: "app.pem"}, false},
		"no key":               {GitHub{App: 1}, false},
		"no id":                {GitHub{Key: "app.pem"}, false},
		"secret without id":    {GitHub{WebhookSecret: "0123456789abcdef"}, false},
		"short webhook secret": {GitHub{App: 1, Key: "app.pem", WebhookSecret: "short"}, false},
	} {
		if err := c.settings.check(); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
