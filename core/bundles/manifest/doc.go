// Package manifest reads the definitions of a bundle from its files, and writes them. The file
// mailhelm.json (the manifest) names them:
//
//	attributes           path of a JSON schema (draft 2020-12), whose properties are the attributes
//	activity_properties  path of a JSON file {"order_placed": {"total": {"type": "number"}}}
//	lists                {"newsletter": {"name": "Newsletter", "description": ""}}
//	topics               {"news": {"display_name": "News", "default_subscription_status": "OPT_IN"}}
//	segments             {"vip": {"path": "audience/vip.predicate", "name": "VIPs"}}
//	images               ["static/logo.png"]
//	templates            {"welcome": {"path": "templates/welcome.hbs", "subject": "Hello"}}, and text (a
//	                     path), testdata (a folder that ends in "/", or a .json file), topic and tags
//	workflows            {"welcome": {"path": "workflows/welcome.flow"}}
//
// The package knows the shapes of these files and where each value is, so that what is wrong is
// reported with line and column. It does not know the rules of the kinds, such as which predicates
// compile.
//
// [Write] gives equal definitions equal bytes, and [Read] returns what was written.
package manifest
