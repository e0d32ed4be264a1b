package serve

import "github.com/mailhelm/mailhelm/core/catalogue"

// remembered is what this process remembers of the settings of organizations, for up to a minute.
type remembered struct {
	s       *stores
	domains catalogue.Domains
}

// forgetAccount forgets the sending account of an organization: its connection, its state and its topics.
func (r remembered) forgetAccount(orgID string) {
	r.s.accounts.Forget(orgID)
	r.domains.Account.Forget(orgID)
	r.domains.Topics.Live.Forget(orgID)
}

// forget forgets all settings of an organization.
func (r remembered) forget(orgID string) {
	r.forgetAccount(orgID)
	r.s.hooks.Forget(orgID)
	r.s.incoming.Forget(orgID)
}

// forgetAll forgets the settings of all organizations.
func (r remembered) forgetAll() {
	r.s.accounts.ForgetAll()
	r.domains.Account.ForgetAll()
	r.domains.Topics.Live.ForgetAll()
	r.s.hooks.ForgetAll()
	r.s.incoming.ForgetAll()
}
