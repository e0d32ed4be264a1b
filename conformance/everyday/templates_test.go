package everyday

import "errors"

// templateTasks are about the templates of mail.
var templateTasks = []task{
	{
		ask:  "Fix the typo in the subject of the autumn mail and show me",
		uses: []string{"templates_list", "templates_author", "templates_render"},
		given: func(s *session) {
			s.author("autumn-mail", "Autum is here, {{first_name}}", "<p>Hello {{first_name}}</p>")
		},
		steps: func(s *session) {
			found := find(items(s.call("templates_list", object{"query": "autumn-mail"}), "items"), "slug", "autumn-mail")
			s.call("templates_author", object{
				"slug": "autumn-mail", "subject": "Autumn is here, {{first_name}}", "html": "<p>Hello {{first_name}}</p>",
				"base_content_hash": found["content_hash"], "message": "Correct the subject",
			})
			s.kept["shown"] = s.call("templates_render", object{"slug": "autumn-mail", "data": object{"first_name": "Robin"}})
		},
		check: func(s *session) {
			s.want("the shown subject", at(s.kept["shown"], "subject"), "Autumn is here, Robin")
			stored := s.get("/v1/templates/autumn-mail")
			s.want("the subject", stored["subject"], "Autumn is here, {{first_name}}")
			s.want("the version", stored["version_number"], 2)
		},
	},
	{
		ask:  "Add the opening hours to the visit mail, which Kim changes too",
		uses: []string{"templates_list", "templates_author"},
		given: func(s *session) {
			s.author("visit-mail", "Visit us", "<p>Come in.</p>")
		},
		steps: func(s *session) {
			read := find(items(s.call("templates_list", object{"query": "visit-mail"}), "items"), "slug", "visit-mail")
			s.author("visit-mail", "Visit us", "<p>Come in and taste.</p>") // Kim is faster
			change := object{"slug": "visit-mail", "html": "<p>Come in. We open at 9.</p>", "base_content_hash": read["content_hash"]}
			refusal := s.refused("templates_author", change, "stale_content_hash")
			change["html"], change["base_content_hash"] = "<p>Come in and taste. We open at 9.</p>", refusal["content_hash"]
			s.want("the status", s.call("templates_author", change)["status"], "saved")
		},
		check: func(s *session) {
			stored := s.get("/v1/templates/visit-mail")
			s.want("the HTML", stored["html"], "<p>Come in and taste. We open at 9.</p>")
			s.want("the version", stored["version_number"], 3)
		},
	},
	{
		ask:  "Write a birthday mail with a voucher and tell me what could be better",
		uses: []string{"templates_author"},
		steps: func(s *session) {
			made := s.call("templates_author", object{
				"slug": "birthday", "subject": "Happy birthday, {{first_name}}", "html": "<p>Take {{voucher}} for your next bag.</p>",
				"testdata": object{"gold": object{"first_name": "Ada", "voucher": "20 per cent"}},
			})
			if find(items(made, "diagnostics"), "code", "language_missing") == nil {
				s.Errorf("no diagnostic about the missing language")
			}
		},
		check: func(s *session) {
			stored := s.get("/v1/templates/birthday")
			s.want("the test data", at(stored, "testdata", "gold", "voucher"), "20 per cent")
			s.await(func() error {
				in, err := s.p.Simulator.Template(s.Context(), s.p.OrgID, text(stored, "deployed_name"))
				if err == nil && in.Subject == "" {
					err = errors.New("the account has no subject")
				}
				return err
			})
		},
	},
	{
		ask:  "Which of our templates are about the harvest?",
		uses: []string{"templates_list"},
		steps: func(s *session) {
			for _, one := range items(s.call("templates_list", object{"query": "HARVEST-news"}), "items") {
				s.kept[text(one, "slug")] = one["content_hash"]
			}
		},
		check: func(s *session) {
			want := object{"harvest-news": s.get("/v1/templates/harvest-news")["content_hash"]}
			s.want("the templates", s.kept, want)
		},
	},
	{
		ask:  "How does the harvest mail look for wholesale partners, and for Zora?",
		uses: []string{"contacts_lookup", "templates_render"},
		given: func(s *session) {
			s.addContact("zora@harvest.example", object{"attributes": object{"first_name": "Zora", "city": "Torino"}})
		},
		steps: func(s *session) {
			s.kept["wholesale"] = s.call("templates_render", object{"slug": "harvest-news", "profile": "wholesale"})
			zora := s.call("contacts_lookup", object{"email": "zora@harvest.example"})
			s.kept["zora"] = s.call("templates_render", object{"slug": "harvest-news", "contact_id": at(zora, "contact", "id")})
		},
		check: func(s *session) {
			stored := s.get("/v1/templates/harvest-news")
			s.wantIn("the mail for partners", at(s.kept["wholesale"], "html"), text(items(stored, "testdata", "wholesale", "coffees")[0], "price"), "As a wholesale partner")
			s.wantIn("the mail for Zora", at(s.kept["zora"], "html"), "Hello Zora", "on its way to Torino", "The list follows on Thursday.")
		},
	},
}

// author saves a template by its operation, as a colleague does in the dashboard. It does not
// count as a call of the assistant.
func (s *session) author(slug, subject, html string) {
	s.Helper()
	calls := s.calls
	arguments := object{"slug": slug, "subject": subject, "html": html}
	if earlier, ok := s.kept["content of "+slug]; ok {
		arguments["base_content_hash"] = earlier
	}
	s.kept["content of "+slug] = s.call("templates_author", arguments)["content_hash"]
	s.calls = calls
}
