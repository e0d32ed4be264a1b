package privacy

import "github.com/mailhelm/mailhelm/core/retention"

const (
	withUser = "as long as the user"
	withOrg  = "as long as the organization"
)

// users has the tables about people who sign in, and about what they did.
func users() []Table {
	user := Column{Name: "user_id", Holds: "id of the user"}
	return []Table{
		{Name: "users", Of: User, Title: "User", Data: []Column{{Name: "email", Holds: "address"}, {Name: "email_key", Holds: "address"}, {Name: "name", Holds: "name"}, {Name: "password_hash", Holds: "hash of the password", Secret: true}}, Other: "id created_at disabled_at", Kept: withUser},
		{Name: "members", Of: User, Title: "Memberships", Data: []Column{user, {Name: "role", Holds: "role"}, {Name: "permissions", Holds: "permissions"}}, Other: "org_id created_at", Kept: withUser},
		{Name: "invitations", Of: User, Title: "Invitations", Data: []Column{{Name: "email", Holds: "address"}, {Name: "invited_by", Holds: "id of the user"}, {Name: "hash", Holds: "hash of the link", Secret: true}}, Other: "org_id id role permissions created_at expires_at", Kept: "7 days"},
		{Name: "sessions", Of: User, Title: "Sessions", Data: []Column{user, {Name: "hash", Holds: "hash of the cookie", Secret: true}}, Other: "org_id created_at last_seen_at expires_at second_factor_at awaits_second_factor", Kept: "12 hours"},
		{Name: "known_devices", Of: User, Title: "Known browsers", Data: []Column{user, {Name: "hash", Holds: "hash of the cookie", Secret: true}}, Other: "last_used_at expires_at", Kept: "180 days"},
		{Name: "authenticators", Of: User, Title: "Authenticator app", Data: []Column{user, {Name: "sealed", Holds: "encrypted secret", Secret: true}}, Other: "used_step created_at confirmed_at", Kept: withUser},
		{Name: "passkeys", Of: User, Title: "Passkeys", Data: []Column{user, {Name: "credential_id", Holds: "id of the passkey"}, {Name: "name", Holds: "name"}, {Name: "credential", Holds: "public key"}}, Other: "id created_at last_used_at", Kept: withUser},
		{Name: "passkey_ceremonies", Of: User, Title: "Passkeys in use", Data: []Column{user, {Name: "hash", Holds: "hash of the challenge", Secret: true}, {Name: "data", Holds: "challenge", Secret: true}}, Other: "purpose expires_at", Kept: "5 minutes"},
		{Name: "recovery_codes", Of: User, Title: "Recovery codes", Data: []Column{user, {Name: "hash", Holds: "hash of the code", Secret: true}}, Other: "used_at", Kept: withUser},
		{Name: "password_resets", Of: User, Title: "Links to reset a password", Data: []Column{user, {Name: "hash", Holds: "hash of the link", Secret: true}, {Name: "password_mark", Holds: "mark of the password", Secret: true}}, Other: "created_at expires_at", Kept: "15 minutes"},
		{Name: "password_warnings", Of: User, Title: "Warnings about sign-in", Data: []Column{user}, Other: "warned_at", Kept: "30 days"},
		{Name: "grants", Of: User, Title: "Permissions given to applications", Data: []Column{user}, Other: "org_id id client_id resource scopes created_at expires_at revoked_at", Kept: withUser},
		{Name: "tool_usage", Of: User, Title: "Calls of assistants, by day", Data: []Column{user}, Other: "org_id client_id operation day calls confirmed asked refused failed last_at", Kept: retention.Kept(retention.AssistantCalls)},
		{Name: "verified_senders", Of: User, Title: "Verified senders", Data: []Column{{Name: "owner", Holds: "id of the user"}, {Name: "email", Holds: "address"}, {Name: "address", Holds: "address"}, {Name: "code_hash", Holds: "hash of the code", Secret: true}}, Other: "org_id id start_id code_expires_at wrong_codes verified_at created_at", Kept: withUser},
		{Name: "verified_sender_starts", Of: User, Title: "Attempts to verify senders", Data: []Column{{Name: "subject", Holds: "address or id of the user"}}, Other: "started latest", Kept: "30 days"},
		{Name: "domainauth_notices", Of: User, Title: "Mail about domains", Data: []Column{user, {Name: "subject", Holds: "subject"}, {Name: "plain", Holds: "text"}, {Name: "html", Holds: "text"}}, Other: "org_id id domain_id kind day attempts due_at created_at", Kept: "7 days"},
		{Name: "domainauth_subscriptions", Of: User, Title: "Subscriptions to mail about domains", Data: []Column{user}, Other: "org_id domain_id alerts digest_at", Kept: withUser},
		{
			// The audit log names people and records by their ids. Those of a contact are
			// replaced when the contact is erased.
			Name: "audit_events", Of: Recipient, Title: "Audit log", Find: []Match{{"subject_id", ByContact}, {"detail", ByMention}}, Erase: Rewrite, Key: "occurred_at id",
			Data: []Column{
				{Name: "subject_id", Holds: "id of the changed record", Change: Redact},
				{Name: "detail", Holds: "details of the change", Change: Redact},
				{Name: "actor_id", Holds: "id of the user or the credential", Of: User},
			},
			Other: "org_id occurred_at id action actor_kind surface request_id", Kept: retention.Kept(retention.AuditLog),
		},
	}
}
