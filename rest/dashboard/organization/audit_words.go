package organization

import (
	"cmp"
	"maps"
	"slices"

	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// actorKinds are the texts for the kinds of actors in the audit log.
var actorKinds = map[string]string{
	"api_key": "API key", "oauth_client": "application", "user": "person", "operator": "operator", "system": "automatic",
}

// actionWords are the texts for the actions of the audit log that are not calls of
// operations.
//
//nolint:gosec // names of actions, no secret
var actionWords = map[string]string{
	"api_key.created":              "API key created",
	"api_key.grace_expired":        "Rotated API key expired",
	"api_key.revoked":              "API key revoked",
	"api_key.rotated":              "API key rotated",
	"api_key.scopes_updated":       "Scopes of an API key changed",
	"oauth_client.created":         "Application registered",
	"oauth_client.updated":         "Application changed",
	"oauth_client.revoked":         "Application revoked",
	"oauth_grant.revoked":          "Permission of an application ended",
	"member.added":                 "Member added",
	"member.invited":               "Member invited",
	"member.invitation_withdrawn":  "Invitation withdrawn",
	"member.joined":                "Invitation accepted",
	"member.permissions_updated":   "Permissions of a member changed",
	"member.role_updated":          "Role of a member changed",
	"member.removed":               "Member removed or left",
	"account.connected":            "Sending account connected",
	"account.disconnected":         "Sending account disconnected",
	"account.identified":           "Id of the sending account recorded",
	"account.ingest_key_created":   "Key for events created",
	"account.sync_requested":       "Sync of the sending account requested",
	"account.template_version_set": "Version of the infrastructure template recorded",
	"broadcast.cancelled":          "Broadcast cancelled",
	"broadcast.edited":             "Broadcast edited",
	"broadcast.paused":             "Broadcast paused",
	"broadcast.rate_changed":       "Rate of a broadcast changed",
	"broadcast.rescheduled":        "Broadcast rescheduled",
	"broadcast.resumed":            "Broadcast resumed",
	"broadcast.split":              "Broadcast divided into two",
	"broadcast.unscheduled":        "Broadcast made a draft again",
	"channel.adopted":              "Channel adopted",
	"production_access.denied":     "Production access denied by the operator",
	"production_access.requested":  "Production access requested",
	"org.created":                  "Organization created",
	"org.deleted":                  "Organization deleted",
	"org.restored":                 "Organization restored",
	"org.exported":                 "Organization exported",
	"org.imported":                 "Organization imported from another installation",
	"org.limit_set":                "Limit of calls set",
	"org.mail_settings_updated":    "Mail settings changed",
	"org.mail_storage_updated":     "Mail storage changed",
	"org.retention_applied":        "Old records deleted",
	"org.retention_updated":        "Retention changed",
	"org.settings_updated":         "Settings changed",
	"contacts.exported":            "Contacts exported",
	"contacts.import_started":      "Import of contacts started",
	"contacts.import_stopped":      "Import of contacts stopped",
	"segment.archived":             "Segment archived",
	"segment.created":              "Segment created",
	"segment.paused":               "Segment paused",
	"segment.restored":             "Segment restored",
	"segment.resumed":              "Segment resumed",
	"segment.updated":              "Segment changed",
	"git.connected":                "Repository connected",
	"git.disconnected":             "Repository disconnected",
	"git.adopted":                  "Definition of the repository adopted",
	"git.promoted":                 "Definition proposed for the repository",
	"git.returned":                 "Adopted definition returned to the repository",
	"git.sync_requested":           "Sync of the repository requested",
	"site.turned_off":              "Beacons of the website turned off",
	"site.turned_on":               "Beacons of the website turned on",
	"site_key.created":             "Site key created",
	"site_key.rotated":             "Site key rotated",
	"dmarc_reporter.accepted":      "Reporter of DMARC reports accepted",
	"dmarc_reporter.rejected":      "Reporter of DMARC reports rejected",
	"tag.created":                  "Tag created",
	"tag.deleted":                  "Tag deleted",
	"tag.updated":                  "Tag changed",
	"broadcast.tags_updated":       "Tags of a broadcast changed",
	"template.tags_updated":        "Tags of a template changed",
	"mail.allowed":                 "Mail allowed again",
	"inboxes.disabled":             "New inboxes disabled",
	"inboxes.enabled":              "New inboxes enabled",
	"mail.stopped":                 "All mail stopped",
	"send.approval_expired":        "Approval of a send expired",
	"send.approval_requested":      "Approval of a send requested",
	"send.approval_voided":         "Approval of a send void",
	"send.approved":                "Send approved",
	"send.cap_set":                 "Recipients a day of an application set",
	"send.policy_updated":          "Policy of sends changed",
	"send.rejected":                "Send rejected",
	"undeliverable.excluded":       "Address excluded from the undeliverable list",
	"undeliverable.rules_updated":  "Rules of undeliverable addresses changed",
	"webhook.created":              "Webhook endpoint added",
	"webhook.deleted":              "Webhook endpoint deleted",
	"webhook.disabled":             "Failing webhook endpoint disabled",
	"webhook.edited":               "Webhook endpoint changed",
	"webhook.resent":               "Webhook delivery sent again",
	"webhook.secret_rotated":       "Secret of a webhook endpoint rotated",
	"webhook.tested":               "Test event sent to a webhook endpoint",
	"workflow.activated":           "Workflow activated",
	"workflow.approval_set":        "Approval of messages of a workflow set",
	"workflow.archived":            "Workflow archived",
	"workflow.created":             "Workflow created",
	"workflow.edited":              "Draft of a workflow saved",
	"workflow.paused":              "Workflow paused",
	"workflow.resumed":             "Workflow resumed",
	"workflow.sends_approved":      "Messages of a workflow approved",
	"workflow.sends_cancelled":     "Messages of a workflow cancelled",
	"workflow.sends_skipped":       "Messages of a workflow skipped",
	"workflows.limit_set":          "Limit of messages of workflows set",
	"user.password_changed":        "Password changed",
	"user.password_reset":          "Password reset by a mailed link",
	"user.password_reset_asked":    "Link to reset a password mailed",
	"user.password_set":            "Password set by the operator",
	"user.wrong_passwords":         "Many wrong passwords tried",
	"user.signed_in":               "Signed in",
	"user.signed_out":              "Signed out",
	"oauth_client.blocked":         "Application blocked",
	"oauth_client.unblocked":       "Application unblocked",
	"grant.replayed":               "Code or refresh token used twice: access ended",
	"oauth_client.secret_rotated":  "Secret of an application rotated",
	"user.passkey_copy_suspected":  "Passkey refused as a possible copy",
	"user.recovery_code_used":      "Recovery code used",
	"user.recovery_codes_renewed":  "Recovery codes renewed",
	"user.second_factor_added":     "Second factor set up",
	"user.second_factor_proven":    "Second factor proven",
	"user.second_factor_removed":   "Second factor removed",
	"user.disabled":                "Account disabled by the operator",
	"user.enabled":                 "Account enabled by the operator",
	"user.deleted":                 "Account deleted",
	"user.second_factors_reset":    "Second factors removed by the operator",
	"user.second_factor_asked":     "Second factor requested",
}

// wordsOf returns the text for an action of the audit log: that of actionWords, or the title
// of the operation. It returns "" for an unknown action.
func (h auditHandlers) wordsOf(action string) string {
	return cmp.Or(actionWords[action], h.Writes[action])
}

// actionOptions returns the actions that the audit log can be filtered by, with the chosen
// one marked.
func (h auditHandlers) actionOptions(chosen string) []frame.Option {
	var options []frame.Option
	for _, words := range []map[string]string{actionWords, h.Writes} {
		for _, action := range slices.Sorted(maps.Keys(words)) {
			options = append(options, frame.Option{Value: action, Name: words[action] + " (" + action + ")"})
		}
	}
	return frame.ChooseOption(options, chosen)
}
