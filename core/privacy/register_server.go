package privacy

// server has the tables with the state of the server.
func server() []Table {
	return []Table{
		// Only keyed hashes of addresses; see Tombstone.
		{Name: "erased_addresses", Other: "org_id hash refuses erased_at"},
		{Name: "erased_address_keys", Other: "org_id key_id sealed"},
		{Name: "installation_facts", Other: "name value updated_at"},
		{Name: "installation_keys", Other: "purpose key_id sealed created_at"},
		{Name: "schema_versions", Other: "id version_id is_applied tstamp"},
		{Name: "attribute_leftovers", Other: "org_id name attribute_id"},
		{Name: "attribute_passes", Other: "org_id generation after_contact"},
		{Name: "authorization_codes", Other: "hash org_id grant_id client_id redirect_uri challenge expires_at used_at"},
		{Name: "denied_tokens", Other: "token_id expires_at"},
		{Name: "handover_rates", Other: "org_id free_at"},
		{Name: "orgs", Other: "id name slug tier retention_days rate_limit git_connected created_at require_second_factor platform_mode deleted_at erasing_at"},
		{Name: "processes", Other: "id beat_at role"},
		{Name: "receiving_routes", Other: "domain org_id domain_id document removed_at version"},
		{Name: "receiving_routing", Other: "id version"},
		{Name: "refresh_tokens", Other: "hash org_id grant_id client_id issued_at used_at"},
		{Name: "report_marks", Other: "org_id mark"},
		{Name: "sending_claims", Other: "org_id account kind name claimed_at"},
		{Name: "sending_syncs", Other: "org_id account region synced_at"},
		{Name: "signing_keys", Other: "id algorithm sealed created_at retired_at"},
		{Name: "spent_confirmations", Other: "org_id confirmation_id expires_at"},
		{Name: "sync_results", Other: "org_id kind ended_at failure succeeded_at"},
	}
}
