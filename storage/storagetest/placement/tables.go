package placement

import "slices"

// Kind says where a distributed PostgreSQL stores the rows of a table. The words are those of
// Citus.
type Kind string

const (
	// Distributed tables are sharded by org_id: all rows of an organization are on one node.
	Distributed Kind = "distributed"
	// Reference tables are copied to every node, so that a statement of one organization can
	// join them. Writes reach every node.
	Reference Kind = "reference"
	// Local tables are on the coordinator alone.
	Local Kind = "local"
)

// Table is a table that is not distributed, and why.
type Table struct {
	Name string
	Kind Kind
	Why  string
}

const (
	byHash      = "is found by a secret, before the organization is known"
	tells       = "its trigger notifies the processes, which listen on one server"
	ofPeople    = "belongs to a person, who may be in several organizations"
	ofProcesses = "belongs to the installation"
	river       = "belongs to the queue of jobs, which has a sequence"
	oneOwner    = "a unique index ensures that one organization has it"
)

// Exceptions lists the tables that are not distributed. Every other table is distributed, and
// tests check that it can be.
var Exceptions = []Table{
	{"orgs", Local, tells},
	{"api_keys", Local, tells},
	{"clients", Local, tells},
	{"grants", Local, tells},
	{"blocked_clients", Local, tells},
	{"members", Local, tells},
	{"retention", Local, "is read together with the organization itself"},
	{"handover_stops", Local, "is read together with the organization itself"},
	{"signing_keys", Local, tells},
	{"denied_tokens", Local, tells},
	{"invitations", Local, byHash},
	{"authorization_codes", Local, byHash},
	{"refresh_tokens", Local, byHash},
	{"sessions", Local, ofPeople},
	{"users", Local, ofPeople},
	{"authenticators", Local, ofPeople},
	{"recovery_codes", Local, ofPeople},
	{"passkeys", Local, ofPeople},
	{"passkey_ceremonies", Local, ofPeople},
	{"password_resets", Local, ofPeople},
	{"password_warnings", Local, ofPeople},
	{"known_devices", Local, ofPeople},
	{"verified_sender_starts", Local, "counts for a person and for an address in all organizations together"},
	{"processes", Local, ofProcesses},
	{"installation_facts", Local, ofProcesses},
	{"installation_keys", Local, ofProcesses},
	{"schema_versions", Local, ofProcesses},
	{"receiving_routing", Local, "has one version for the routes of all organizations"},
	{"receiving_routes", Local, oneOwner + ": a domain receives mail for one"},
	{"river_client", Local, river},
	{"river_client_queue", Local, river},
	{"river_job", Local, river},
	{"river_leader", Local, river},
	{"river_migration", Local, river},
	{"river_queue", Local, river},
	{"inboxes", Local, "mail names the address, which is unique in the installation"},
	{"inbox_tokens", Local, byHash},
	{"inbox_messages", Local, "is written together with its inbox"},
	{"git_connections", Local, "webhooks name the installation of an application and no organization"},
	{"sites_off", Local, "is read for all organizations together with their state"},
	{"connections", Reference, "providers post events to a path that is unique in the installation"},
	{"sending_claims", Reference, oneOwner + ": organizations may share an account, but no identity of it"},
	{"receiving_domains", Reference, oneOwner + ": a domain receives mail for one"},
	{"domainauth_domains", Reference, "mailed reports name a token that is unique in the installation"},
	{"site_keys", Reference, "no two organizations have the same key"},
}

// KindOf returns the kind of a table.
func KindOf(name string) Kind {
	if i := slices.IndexFunc(Exceptions, func(t Table) bool { return t.Name == name }); i >= 0 {
		return Exceptions[i].Kind
	}
	return Distributed
}
