package dataset

//nolint:gochecknoglobals // word lists, never written
var (
	shipInstructions = []string{"DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"}
	shipModes        = []string{"REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"}
	plainWords       = []string{
		"quick", "slow", "pending", "final", "ironic", "regular", "even", "bold", "silent", "careful",
		"packages", "requests", "accounts", "deposits", "foxes", "ideas", "theories", "pinto", "beans",
		"sleep", "wake", "haggle", "nag", "use", "boost", "detect", "integrate", "after", "above", "the",
		"across", "among", "blithely", "furiously", "against", "according", "to", "express", "special",
	}
	mixedWords = []string{
		"plain", "text", "with", "some", "longer", "sentences,", "commas,", "and", `"quotes"`, "it's",
		"naïve", "Straße", "東京", "数据", "Привет", "🙂", "line\nbreak", `back\slash`, "tab\tstop", "100%",
	}
	cities = []string{
		"Berlin", "Zürich", "São Paulo", "Kraków", "北京", "大阪", "Москва", "Αθήνα", "Oslo", `"La" Paz`,
		"Washington, DC", "Reykjavík",
	}
)

func instructions() []string { return shipInstructions }
func modes() []string        { return shipModes }
func vocabulary() []string   { return plainWords }
