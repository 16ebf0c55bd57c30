package suite

// exceptions are the checks that may end otherwise through bir, by scenario and id,
// with the reason. Each was looked at by a person.
var exceptions = map[string]string{}
