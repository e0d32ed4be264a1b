package core

import "net/url"

// Code names a kind of failure. It is stable: callers branch on it, and it is
// the last segment of a problem's type URI.
type Code string

// The error codes. The list is complete. The variable codes, below, has the status and the
// remedy of each.
const (
	CodeInvalidKey                   Code = "invalid_key"
	CodeKeyRevoked                   Code = "key_revoked"
	CodeKeyExpired                   Code = "key_expired"
	CodeInvalidScope                 Code = "invalid_scope"
	CodeMissingScope                 Code = "missing_scope"
	CodeTestEnvironmentForbidden     Code = "test_environment_forbidden"
	CodePlanRetentionExceeded        Code = "plan_retention_exceeded"
	CodeNotFound                     Code = "not_found"
	CodeContactListNotSynced         Code = "contact_list_not_synced"
	CodeMethodNotAllowed             Code = "method_not_allowed"
	CodeConflict                     Code = "conflict"
	CodeContactExternalIDMismatch    Code = "contact_external_id_mismatch"
	CodeContactEmailTaken            Code = "contact_email_taken"
	CodeContactClaimRace             Code = "contact_claim_race"
	CodeConfirmationInvalid          Code = "confirmation_invalid"
	CodeGitOwned                     Code = "git_owned"
	CodePullRequestRequired          Code = "pull_request_required"
	CodeStaleContentHash             Code = "stale_content_hash"
	CodeValidationFailed             Code = "validation_failed"
	CodeAttributeValidationFailed    Code = "attribute_validation_failed"
	CodeNoTopicAcknowledgementNeeded Code = "no_topic_acknowledgement_required"
	CodeUnknownExternalID            Code = "unknown_external_id"
	CodeExternalIDConflict           Code = "external_id_conflict"
	CodeReceivingDomainNotOwned      Code = "receiving_domain_not_owned"
	CodeInboundNotDeployed           Code = "inbound_not_deployed"
	CodeWebhookNotSet                Code = "webhook_not_set"
	CodeRateLimited                  Code = "rate_limited"
	CodeUpstreamUnavailable          Code = "upstream_unavailable"
	CodeResourcePreparing            Code = "resource_preparing"
	CodeDedupUnavailable             Code = "dedup_unavailable"
	CodeOverloaded                   Code = "overloaded"
	CodeTemporarilyUnavailable       Code = "temporarily_unavailable"
	CodeInternalError                Code = "internal_error"
	CodeWrongHost                    Code = "wrong_host"
	CodeInboxExpired                 Code = "inbox_expired"
)

// CodeInfo describes one error code. The documentation page of the code is generated from
// it.
type CodeInfo struct {
	Code      Code
	Status    int
	Title     string
	Retryable bool
	// Meaning and Remedy are whole sentences for the documentation page of the error.
	Meaning string
	Remedy  string
}

var codes = []CodeInfo{
	{
		CodeInvalidKey, 401, "Invalid credential", false,
		"The request carried no credential, or one that this host does not accept. The answer never says which, so that a guesser learns nothing.",
		"Send `Authorization: Bearer` with an API key of this organization, or with an access token issued for this host. An access token lives 15 minutes: get a new one. A token for the agent endpoint is not accepted by the public API, nor the reverse.",
	},
	{
		CodeKeyRevoked, 401, "Credential revoked", false,
		"The API key was revoked. This cannot be undone.",
		"Create a new key in the dashboard and replace the old one wherever it is used.",
	},
	{
		CodeKeyExpired, 401, "Credential expired", false,
		"The API key was rotated, and the 24 hours in which the old secret still worked are over.",
		"Use the new secret that the rotation returned.",
	},
	{
		CodeInvalidScope, 403, "Missing scope", false,
		"The credential is valid but lacks a scope that this operation needs. The member `scope` names it.",
		"Give the credential that scope, or use one that has it. `GET /v1/_scopes` lists what a credential holds.",
	},
	{
		CodeMissingScope, 403, "Missing scope for an argument", false,
		"A tool was called with an argument that needs an additional scope, which the credential lacks. The member `scope` names it. The tool itself may be called; over REST the same refusal is `invalid_scope`.",
		"Leave the argument out, or get a token with that scope.",
	},
	{
		CodeTestEnvironmentForbidden, 403, "Not allowed with test credentials", false,
		"Test credentials work on the same data as live ones, so they cannot call operations that delete.",
		"To delete, repeat the call with a live credential.",
	},
	{
		CodePlanRetentionExceeded, 403, "Outside plan retention", false,
		"The requested window starts earlier than the plan keeps data. The member `retention_days` says how far back it reaches.",
		"Move `from` to within the retention, or change the plan.",
	},
	{
		CodeNotFound, 404, "Not found", false,
		"This organization has no such object. Objects of other organizations get the same answer.",
		"Check the identifier in the path. The member `resource` names what was not found.",
	},
	{
		CodeContactListNotSynced, 404, "Contact list not synced yet", true,
		"The organization has no contact list yet: the first sync from the sending account has not finished.",
		"Ask again in a minute.",
	},
	{
		CodeMethodNotAllowed, 405, "Method not allowed", false,
		"The path exists but does not allow this method. The header `Allow` lists the allowed methods.",
		"Use one of the allowed methods.",
	},
	{
		CodeConflict, 409, "Conflict", false,
		"The write conflicts with the stored state: the object exists already, a repository owns its definition, the idempotency key was used with other arguments, or the same call is still running.",
		"Read the object first. If the answer has `Retry-After`, repeat the call unchanged after it. If the key was used, send a new key.",
	},
	{
		CodeContactExternalIDMismatch, 409, "Address belongs to another external id", false,
		"A contact with this address exists and carries another external id. `incumbent_external_id` and `incumbent_archived` describe it.",
		"Send `rebind_external_id: true` to move the address to the new id, which is safe when the incumbent is archived; otherwise reconcile the two records.",
	},
	{
		CodeContactEmailTaken, 409, "Address taken", false,
		"The contact with this external id exists, and the new address belongs to another contact.",
		"Decide which contact is right, and correct the id or the address. Rebinding does not help here.",
	},
	{
		CodeContactClaimRace, 409, "External id claimed concurrently", true,
		"Another write claimed the external id at the same moment.",
		"Repeat the call after `Retry-After`.",
	},
	{
		CodeConfirmationInvalid, 409, "Confirmation not valid", false,
		"The confirmation does not belong to this call, is older than ten minutes, was used before, or what it confirmed has changed since. The answer does not say which.",
		"Start again: call without a confirmation, read the new preview, and confirm that.",
	},
	{
		CodeGitOwned, 409, "Owned by a repository", false,
		"The organization's definitions come from a connected repository, so they are read-only here.",
		"Change the definition in the repository and let it sync.",
	},
	{
		CodePullRequestRequired, 409, "Pull request required", false,
		"A tool was called to save something that comes from a connected repository, and no pull request could be opened from here. Nothing was changed. Over REST the same refusal is `conflict`.",
		"Open the pull request in the repository and let it sync.",
	},
	{
		CodeStaleContentHash, 409, "Content has changed", false,
		"A tool was called to change content that another version has replaced since, or without saying which content it changes. `content_hash` is the hash of the stored content, `base_content_hash` the one that was sent. Nothing was changed. Over REST the same refusal is `conflict`.",
		"Read the object again, apply the change to its content, and send its content hash as `base_content_hash`.",
	},
	{
		CodeValidationFailed, 422, "Validation failed", false,
		"A value is malformed, out of range, missing, or not known. With several, `errors` lists each with its field and the reason.",
		"Correct the named fields and send the request again. The schema of each request is in `/v1/openapi.json`.",
	},
	{
		CodeAttributeValidationFailed, 422, "Attribute validation failed", false,
		"A contact attribute is not in the registry, or its value does not fit the registered type. `errors` has one entry for each.",
		"Correct the values, or register the attribute first. `GET /v1/attributes` lists the registry.",
	},
	{
		CodeNoTopicAcknowledgementNeeded, 422, "Sending without a topic needs acknowledgement", false,
		"The broadcast has no topic, so its unsubscribe link opts people out of everything.",
		"Set a topic, or send `acknowledge_no_topic: true`.",
	},
	{
		CodeUnknownExternalID, 422, "Unknown external id", false,
		"No contact has this external id, and a contact cannot be created without an address.",
		"Send the address as well.",
	},
	{
		CodeExternalIDConflict, 422, "External id conflict", false,
		"The contact with this address is already bound to another external id.",
		"Use the external id the contact has, or reconcile the two.",
	},
	{
		CodeReceivingDomainNotOwned, 422, "Receiving domain not owned", false,
		"The domain is neither a verified sending domain of the organization nor below one, so it may belong to another.",
		"Verify the domain or one above it in the sending account, wait for the next sync, and try again.",
	},
	{
		CodeInboundNotDeployed, 422, "Receiving not set up", false,
		"This installation receives no mail for domains: it has neither a mail host nor a region of Amazon SES that receives.",
		"Ask the operator to set `--mail-host` (MAILHELM_MAIL_HOST) or `--receive-ses-regions`.",
	},
	{
		CodeWebhookNotSet, 422, "No webhook", false,
		"The receiving domain has no webhook, so it has no secret to rotate.",
		"Set a webhook first; the answer has its secret.",
	},
	{
		CodeRateLimited, 429, "Too many requests", true,
		"The organization's rate limit is used up. The limit is shared by all its credentials.",
		"Wait for `Retry-After` seconds plus a little jitter, then repeat.",
	},
	{
		CodeUpstreamUnavailable, 503, "Sending account unavailable", true,
		"The connected sending account refused or throttled the call (503), or did not answer in time (504). After a 504 the outcome is unknown.",
		"Repeat after `Retry-After`. Repeat a write with the same `Idempotency-Key`, so that it happens once.",
	},
	{
		CodeResourcePreparing, 503, "Still being prepared", true,
		"The object is still being built in the background.",
		"Ask again after `Retry-After`.",
	},
	{
		CodeDedupUnavailable, 503, "Deduplication unavailable", true,
		"The store that remembers `once` activities could not be reached, so the item was not accepted.",
		"Send the item again later.",
	},
	{
		CodeOverloaded, 503, "Too busy", true,
		"Too many calls are waiting, so this one was refused before anything was stored. Each organization has its own queue for expensive reads.",
		"Repeat after `Retry-After`, with a little jitter. Make fewer calls at once.",
	},
	{
		CodeTemporarilyUnavailable, 503, "Temporarily unavailable", true,
		"Mailhelm's own storage cannot process the call now. If the call was a write, the outcome is unknown.",
		"Repeat after `Retry-After`. Repeat a write with the same `Idempotency-Key`, so that it happens once.",
	},
	{
		CodeInternalError, 500, "Internal error", true,
		"Something failed on our side. The answer does not show the cause. The log has it under the request id.",
		"Repeat with exponential backoff. If it fails again, report the `request_id`.",
	},
	{
		CodeInboxExpired, 410, "Inbox has ended", false,
		"The temporary inbox has expired, or was deleted. Its messages are deleted too.",
		"Create a new inbox.",
	},
	{
		CodeWrongHost, 400, "Wrong host for this credential", false,
		"The credential was sent to a host that does not accept it: the agent endpoint accepts access tokens only, the fetch host accepts no credentials.",
		"Send API keys to the public API. For the agent endpoint get an access token with its address as `resource`.",
	},
}

var codesByName = func() map[Code]CodeInfo {
	m := make(map[Code]CodeInfo, len(codes))
	for _, info := range codes {
		m[info.Code] = info
	}
	return m
}()

// Codes returns the descriptions of all error codes, in the order of the documentation.
func Codes() []CodeInfo {
	return append([]CodeInfo(nil), codes...)
}

// Info returns the description of the code. For an unknown code, it returns that of an
// internal error.
func (c Code) Info() CodeInfo {
	if info, ok := codesByName[c]; ok {
		return info
	}
	return codesByName[CodeInternalError]
}

// TypeURI returns the permanent URL of the code's documentation page. docsURL is the root
// of the documentation.
func (c Code) TypeURI(docsURL string) string {
	return docsURL + "/api/errors/" + url.PathEscape(string(c))
}
