package reference

import (
	"encoding/json"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Problem returns an example of a problem document with this code, as indented JSON.
func Problem(code core.Code, docsURL string) (string, error) {
	problem := core.ProblemOf(example(code), docsURL, "0198c7a2-5d3e-7c41-9b0a-3f1e6a2d8c55")
	text, err := json.MarshalIndent(problem, "", "  ")
	return string(text), err
}

// example returns a typical error with this code.
func example(code core.Code) *core.Error {
	e := &core.Error{Code: code, Message: exampleMessages[code]}
	switch code {
	case core.CodeValidationFailed:
		return core.Invalid("limit", "must be at most 200")
	case core.CodeAttributeValidationFailed:
		e.Fields = []core.FieldError{{Field: "attributes.plan", Reason: "must be one of free, team"}}
	case core.CodeNotFound:
		return core.NotFound("contact")
	case core.CodeInvalidScope:
		e.Scope = core.ContactsView
	case core.CodeMissingScope:
		e.Scope = core.MessagesUnmask
	case core.CodePlanRetentionExceeded:
		e.Extra = map[string]any{"retention_days": 30}
	case core.CodeContactExternalIDMismatch:
		e.Extra = map[string]any{"incumbent_external_id": "customer-17", "incumbent_archived": false}
	case core.CodeStaleContentHash:
		e.Extra = map[string]any{"base_content_hash": "5f2c3d", "content_hash": "9be1f0"}
	case core.CodeRateLimited:
		e.RetryAfter = 12 * time.Second
	case core.CodeContactClaimRace:
		e.RetryAfter = time.Second
	case core.CodeUpstreamUnavailable, core.CodeResourcePreparing, core.CodeContactListNotSynced, core.CodeDedupUnavailable,
		core.CodeOverloaded, core.CodeTemporarilyUnavailable:
		e.RetryAfter = 5 * time.Second
	}
	return e
}

// exampleMessages maps error codes to the messages of the example errors.
var exampleMessages = map[core.Code]string{
	core.CodeInvalidKey:                   "The request carries no credential that this host accepts.",
	core.CodeKeyRevoked:                   "This API key was revoked.",
	core.CodeKeyExpired:                   "This API key was rotated, and its grace period of 24 hours is over.",
	core.CodeInvalidScope:                 "This credential lacks the scope `api.contacts.view`.",
	core.CodeMissingScope:                 "`recipient` needs the scope `api.messages.unmask_recipients`, which this credential lacks.",
	core.CodeTestEnvironmentForbidden:     "`contacts_archive` is refused to test credentials because they work on live data.",
	core.CodePlanRetentionExceeded:        "The window starts before the 30 days that the plan keeps.",
	core.CodeContactListNotSynced:         "The contact list has not been synced yet.",
	core.CodeMethodNotAllowed:             "The path does not allow this method; it allows GET, HEAD.",
	core.CodeConflict:                     "This idempotency key was used with other arguments.",
	core.CodeContactExternalIDMismatch:    "The address belongs to a contact with another external id.",
	core.CodeContactEmailTaken:            "The address belongs to another contact.",
	core.CodeContactClaimRace:             "Another write claimed the external id at the same moment.",
	core.CodeConfirmationInvalid:          "The confirmation is not valid for this call.",
	core.CodeGitOwned:                     "This organization's definitions are owned by its connected repository.",
	core.CodePullRequestRequired:          "This organization's connected repository has the templates, which change by pull request, and none can be opened from here.",
	core.CodeStaleContentHash:             "The template has another content now.",
	core.CodeAttributeValidationFailed:    "An attribute does not fit the registry.",
	core.CodeNoTopicAcknowledgementNeeded: "The broadcast has no topic.",
	core.CodeUnknownExternalID:            "No contact has this external id.",
	core.CodeExternalIDConflict:           "The contact with this address has another external id.",
	core.CodeRateLimited:                  "The rate limit of this organization's credentials is used up.",
	core.CodeUpstreamUnavailable:          "The connected sending account refused the call.",
	core.CodeResourcePreparing:            "The resource is still being built.",
	core.CodeDedupUnavailable:             "The item could not be checked for a duplicate.",
	core.CodeOverloaded:                   "Too many calls are waiting, so this one was refused. Nothing was stored.",
	core.CodeTemporarilyUnavailable:       "Mailhelm's own storage cannot process the call now.",
	core.CodeInternalError:                "Something failed on our side.",
	core.CodeReceivingDomainNotOwned:      "No verified sending domain of the organization is \"in.example.org\" or a domain above it.",
	core.CodeInboundNotDeployed:           "This installation receives no mail for domains.",
	core.CodeWebhookNotSet:                "The receiving domain orders.example.com has no webhook.",
	core.CodeInboxExpired:                 "The inbox expired, and its messages are deleted.",
	core.CodeWrongHost:                    "The fetch host accepts no credentials.",
}
