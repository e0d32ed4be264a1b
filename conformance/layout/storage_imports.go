package layout

// storageShared lists the packages of storage that each domain's package in storage (such
// as storage/contacts) may import, and why. The rule does not apply to the packages storage
// and storagetest.
var storageShared = map[string]string{
	"storage/engine":     "connections, transactions and statements",
	"storage/membership": "lists and segments read members alike and write one log",
	"storage/tags":       "lists of templates and of broadcasts are filtered by tag with the same condition",
	"storage/slots":      "attributes, contacts and bulk writes store values by one registry, and predicates read the columns",
}

// storageEdges lists the allowed imports between the domain packages in storage, each with
// its reason. The first package of a pair may import the second.
var storageEdges = map[[2]string]string{
	{"storage/bulk", "storage/contacts"}:   "a bulk write writes the records and choices of contacts, many at once",
	{"storage/orgmove", "storage/closing"}: "what moves is the tables that are erased, and an interrupted import is erased like a deleted organization",
	{"storage/orgmove", "storage/sealed"}:  "sealed values are opened for an archive and sealed again",
}

// engineCore lists the packages of core that storage/engine and storage/schema may import,
// and why.
var engineCore = map[string]string{
	"core":            "the vocabulary",
	"core/jobs":       "the engine runs jobs",
	"core/sqlitefile": "the database is a SQLite file",
}

// storageRefusal returns the reason why a folder of storage must not import another folder
// of the repository, or "" if it may. It is not called for test files.
func storageRefusal(folder, target string) string {
	switch {
	case folder == "storage", folder == "storage/storagetest":
		return ""
	case folder == "storage/engine" || folder == "storage/schema":
		if engineCore[target] == "" && target != "storage/schema" {
			return "the engine knows no domain"
		}
	case top(target) == "storage" && storageShared[target] == "" && storageEdges[[2]string{folder, target}] == "":
		return "a room of storage imports no other room"
	}
	return ""
}
