//! Patterns for the grammatical form of a sentence. They also match verbs and nouns that no rule lists. Each row has an example,
//! which a test checks. Patterns for single phrases are in `patterns.rs`.

use super::signs::Sign::{self, *};

pub(super) struct Shape {
    pub(super) sign: Sign,
    /// A sentence of this shape, as it would be written.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers and for the test of the table"))]
    pub(super) example: &'static str,
    pub(super) pattern: &'static str,
}

const fn shape(sign: Sign, example: &'static str, pattern: &'static str) -> Shape {
    Shape { sign, example, pattern }
}

/// A verb in the past tense: the regular form, or a common irregular verb. Verbs whose past tense looks like a command ("put",
/// "set") are left out.
macro_rules! past {
    () => {
        "(?:[a-z]+[a-z]ed|took|made|wrote|rewrote|gave|brought|kept|got|ran|re-?ran|built|rebuilt|threw|drew|dug|sent|swept|undid|redid|fed|hid|spun|tore|chose|overrode|went)"
    };
}

/// Words that may stand before the verb of a report.
macro_rules! adverb {
    () => {
        "(?:[a-z]+ly |also |just |then |both |now |already )?"
    };
}

macro_rules! nothing_wrong {
    () => {
        "(?:errors?|fail(?:ure|ed|ing|s)?s?|violations?|warnings?|regressions?|problems?|issues?|conflicts?|differences?|findings|vulnerabilities|downtime)"
    };
}

/// Forms of a report that work is done.
#[rustfmt::skip]
pub(super) const REPORTS: &[Shape] = &[
    shape(Past, "We swapped the two calls.", concat!(r"\b(?:i|we)(?:'ve| have)? ", adverb!(), past!(), r"\b")),
    shape(Past, "Took out the retry loop.", concat!(r"^(?:(?:sure|ok|okay|yes|right|great|perfect|got it|understood|alright|good catch)\W+)*", adverb!(), past!(), r"\b")),
    shape(Past, "Node pool: drained and replaced.", r"^[^.?!:]*: [a-z]+ed (?:and|as|at|by|for|from|in|into|on|to|with|the|all|…|[0-9])"),
    shape(Past, "README now lists it, linked the guide.", concat!(r"(?:[,;] |→ |– |— )(?:and |then )?", adverb!(), r"[a-z]+ed (?:the|it|them|all|an?|both|two|three|to|…)\b")),
    shape(State, "The helpers have been moved.", r"\b(?:has|have) (?:now |all |also )?been [a-z]+(?:ed|en|un|wn|lt|pt|it|ut|de|nt|ne)\b"),
    shape(State, "The queue is no longer blocked.", r"\b(?:no longer|not anymore|any ?more[.!]?$|no more)\b"),
    shape(State, "Invoice numbers are gapless again.", r"\b(?:works?|runs?|starts?|builds?|compiles?|pass(?:es)?|loads?|responds?|succeeds?) again\b|\b(?:is|are) [a-z]+ again(?:[.,;:!]|$)"),
    shape(State, "The cluster upgrade is through.", r"\b(?:is|are|it's) (?:now |all )?(?:in|through|out|up|live|gone|back|over|there|away|on (?:main|master))(?:[.:!,;]|$)|\b(?:is|are) back (?:to|at|on|under|below)\b"),
    shape(State, "The build uses the cache now.", r"^(?:[^ ,.?!]+ ){1,8}(?:[^.?!,]*[^ ,] )?now[.!:;,]?$"),
    shape(State, "The footer is switched to the new font.", r"^(?:the |your |both |all |every )?(?:[^ ,.:;?!]+ ){1,5}(?:is|are) (?:now )?(?:switched|plugged|squashed|addressed|covered|translated|renamed|merged|deployed|tagged|published|uploaded|released|archived|rotated|restored|attached|pushed)\b"),
    shape(State, "Wall time dropped from 19 to 7 minutes.", r"\b(?:(?:went|dropped|fell|rose|grew|shrank|came|raised|reduced|cut|improved|bumped|upgraded?|moved|down|up) (?:[^?]* )?from [^?]*[0-9][^?]* to [^?]*[0-9]|back (?:to|at|under|below) [^?]*[0-9]|(?:went|goes|came|comes|dropped|fell|is|are) (?:down|up) (?:to|by) [^?]*[0-9])"),
    shape(State, "4.2 s → 1.3 s", r"[0-9][^ ?]*(?: [a-z%]+)? (?:→|->) [^?]*[0-9]|[0-9][^?]*(?:down|up) from [^?]*[0-9]|\b(?:rose|shrank|grew|improved|cut|reduced) (?:[^?]* )?(?:by|to) [^?]*[0-9]"),
    shape(State, "axe reports 0 violations.", concat!(r"\b(?:0|no|zero|without(?: any)?|0 of [0-9]+ \w+) (?:new |more |further )?", nothing_wrong!(), r"\b|\b0 of [0-9,]+ ")),
    shape(State, "Tests: 87 passed, 2 skipped.", r"\b[0-9][0-9,.]* (?:[a-z]+ )?(?:passed|passing|pass|green|ok)\b|\b(?:tests?|suite|specs?|build|lint|ci) ok\b"),
    shape(Finding, "Result: BullMQ.", r"^(?:recommendation|results?|conclusion|verdict|root cause|cause|outcome|findings?|fix|solution|full (?:list|report|results?))\b[^?]*(?::|…)|^found (?:it|the (?:cause|culprit|problem|bug|reason))\b"),
    shape(Done, "Three commits on main:", r"^(?:[0-9]+|one|two|three|four|five|six|all|changes?|fix(?:es)?|(?:[^ ]+ ){1,3}fix(?:es)?)(?: small)? ?(?:commits?\b[^?]*|changes?|fixes|at a glance)?:$"),
    shape(Done, "That wraps up the refactoring.", r"^(?:that|this) (?:wraps up|concludes|completes|finishes)\b|^(?:all|every|both|each)\b[^?]*\b(?:is|are) (?:done|finished|addressed|closed|complete|in place)\b"),
    shape(State, "Search is about twelve times faster.", r"\b(?:times|[0-9]+ ?(?:x|%|percent|[kmg]b)|twice as|half as) (?:as )?(?:faster|smaller|less|fewer|lower|shorter|cheaper|fast|large|long)\b"),
    // Other languages
    shape(Done, "Habe die Abhängigkeiten ersetzt.", r"^(?:ich )?habe\b.*(?:t|en)\b|\b(?:wurden?|worden)\b|^(?:ge[a-z]+t|[a-z]+iert)(?: und |:|,|\.)"),
    shape(State, "Das Feld akzeptiert jetzt auch Jahre.", r"^[^?]+ (?:jetzt|nun|wieder|nicht mehr)\b|\bkeine [^?]+ mehr\b|laufen (?:wieder )?durch|\balle[sn]? (?:[^ ]+ )?(?:grün|bestanden)|(?:ohne|keine) (?:fehler|warnungen)"),
    shape(Done, "Se migraron los componentes.", r"^(?:se )?(?:[^ ,.]+ ){0,4}[^ ,.?]+(?:aron|ieron|ó)(?:[ .,;:]|$)|(?:^|[.,;] |\by )[^ ,.?]+(?:é|í) (?:el|la|los|las|un|una|tres|dos|…)|^[^ ,.?]+(?:ad|id)[oa]s?:? (?:el|la|los|las|un|una|…)|\b(?:sin errores|ha sido|han sido|todas? pasan|todos? pasan)\b"),
    shape(State, "El menú ahora cabe en móvil.", r"^[^?]+ (?:ahora|ya) [^ ]+"),
    shape(Done, "J'ai déplacé le calcul.", r"\b(?:j'ai|nous avons|on a) (?:[^ ]+ )?[^ ]+(?:é|i|u|is|it|ert)e?s? |\b(?:a|ont) été [^ ]+é|^[^ ,.]+ée?s? (?:le|la|les|un|une|…)|\b(?:est|sont) (?:maintenant |désormais |bien )?(?:traduit|déployé|fusionné|publié|migré|ajouté|supprimé|remplacé|mis)"),
    shape(State, "Le menu tient désormais sur mobile.", r"^[^?]+ (?:maintenant|désormais)\b|\bsans erreurs?\b"),
    shape(Done, "已将客户端升级到 5。", r"已(?:经)?(?:将|把|被|全部|补|升|改|移|重|切|合|拆|加|迁|推|发|清|替|配|调|修|更|添|创|删|部|提|完|实|解|优|统|支|恢|回)|(?:全部|都|均|测试|ci|构建)[^?]{0,12}通过|[0-9].*(?:提升|降|减少|缩短)(?:到|至|为)"),
    shape(Done, "並び順を降順に変更しました。", r"(?:変更|追加|修正|更新|削除|統一|移行|実装|対応|作成|解消|置換|置き換え|改善|導入|整理|分割|適用|公開|反映|整え|直し|済み)(?:し|え|り)?ま?し?た|(?:すべて|全て|全件)[^?]{0,12}(?:成功|通|パス)"),
];

/// Forms of a request, of an obstacle and of a question.
#[rustfmt::skip]
pub(super) const ASKS: &[Shape] = &[
    shape(Request, "Put them in the vault and I'll resume.", r"^(?:please |just )?[a-z]+ (?:[^?]* )?and i(?:'ll| will| can) (?:then )?(?:carry on|resume|continue|finish|go on|proceed|take it|pick|do|implement|start|try|retry|run|flash|build|wire|make|push|deploy|update|move)\b"),
    shape(Request, "Once you've told me the count I'll carry on.", r"\b(?:once|as soon as|when|after) (?:you(?:'ve|'re| have| are)?|that's|it's|this is|they're) [^?]*\b(?:i'll|i will|i can|tell me|ping me|let me know)\b"),
    shape(Request, "If marketing has a text, send me that.", r"(?:^|[,;:] |\band |\bor )(?:please )?(?:(?:send|give|paste|show|point|forward) (?:it |them |that )?(?:to )?me|tell me (?:and|which|what|how|where|the|your|whether))\b"),
    shape(Request, "Decision needed: gross or net.", r"\b(?:decision|input|approval|confirmation|answer) (?:is )?(?:needed|required|pending)\b|\bneeds? (?:a|your) (?:decision|answer|approval|go-ahead|input)\b|\b(?:is|it's) up to you\b|\byou decide\b|\bwhich(?:ever)? (?:one )?you (?:prefer|want|like)\b|\bopen questions?\b|\blet me know (?:and|so)\b"),
    shape(Request, "Bevor ich weitermache, brauche ich das Passwort.", r"\bbrauche ich\b|\b(?:sag|sagen sie|schick|gib|nenn|nenne) mir\b|\bsobald du [^?]*\bich\b|\bdeine (?:entscheidung|freigabe)\b|\bentscheide\b"),
    shape(Request, "En cuanto me digas la ruta, sigo.", r"\b(?:dime|indícame|confírmame|envíame|pásame|avísame cuál)\b|\ben cuanto (?:me|lo|la|tenga)\b|\bnecesito (?:un|los|las|más)\b|\btú decides\b"),
    shape(Request, "Il me faut le mot de passe.", r"\bil me (?:faut|faudrait|manque)\b|\b(?:dis|dites|envoie|envoyez|donne|donnez)-moi (?:le|la|les|quel|ce)\b|\bdès que (?:tu|vous)\b|\bà (?:toi|vous) de (?:choisir|décider)\b"),
    shape(Request, "请把密钥加到仓库。", r"请(?:把|将|您|你|先|帮|在|给|回复|决定|授权|补充|发)|需要(?:您|你)|由(?:您|你)决定|(?:お願い(?:いた)?します|いただけますか|が必要です)"),
    shape(WeakRequest, "Please connect the board.", r"(?:^|[,;:-] |— |– |\bso )please [a-z]+\b"),
    shape(WeakRequest, "You'd have to allow it in the settings.", r"\byou(?:'d|'ll| would| will)? (?:have|need) to [a-z]+|\bi(?:'d| would)?(?: still)? need (?:an?|the|some|one|two)\b|^(?:allow|approve|grant|choose|pick|decide|select|provide|confirm)\b|\b(?:run it|do it|do that) yourself\b"),
    shape(WeakRequest, "Bitte verbinde das Gerät.", r"(?:^|[,;:] )bitte [a-z]+|\bpuedes\b|\bpodrías\b|\btendrías que\b|\bil faudrait\b"),
    shape(NoRequest, "Please note the new name.", r"\bplease (?:note|see|find|remember|be|keep|refer|ignore|feel|do|don't|bear)\b|^(?:if|should) (?:anything|something)\b|\b(?:can't|cannot|couldn't|could not) (?:find any|see any|think|imagine|say|guarantee|recommend)\b|\bbitte (?:beachte|beachten)\b"),
    shape(Unable, "I can't run the tests this way.", r"\b(?:i|we)(?:'m| am| was)? (?:can't|cannot|can not|couldn't|could not|unable to|not able to|wasn't able to|may not|have no (?:access|rights|permission|way)|don't have|didn't have) ?[a-z]*|\bthere's nothing i can\b|\bi'm (?:blocked|stuck)\b"),
    shape(Unable, "Permission was denied by the hook.", r"\b(?:permission|access|authenti[a-z]+|authori[sz]ation|login|connection)\b[^?]*\b(?:denied|failed|refused|rejected|required|expired|outdated)\b|\b(?:refuses|rejects|denies) (?:the|my|our|access|all)\b|\bhas no (?:network|internet)\b"),
    shape(Unable, "Ohne Zugang kann ich nicht weiter.", r"\bkann ich [^?]*nicht\b|\bich kann [^?]*nicht\b|\bkomme ich nicht\b|\bno (?:puedo|pude|tengo)\b|\bje ne (?:peux|trouve|dispose)\b|\bje n'ai pas\b|\bimpossible de\b|无法|没有权限|できません|ありません"),
    // What a question is like
    shape(ToThePerson, "Which Node version runs in production?", r"^(?:(?:so|and|but|or|quick (?:check|question)|question|one (?:question|thing)|before [^,:?]*|[^.?!,:]*)[,:]? )?(?:which|should|shall|may|could you|can you|would you|will you|do you|did you|are you|have you|what (?:should|shall|would|do you)|how (?:should|shall|would|many|much|important)|who (?:should|is|can)|when (?:should|do you)|where (?:should|do you))\b"),
    shape(ToThePerson, "So: monorepo or separate repositories?", r"^(?:so|then)?[,:]? ?(?:[^ ,.?!]+ ){1,12}or (?:[^ .?!]+ ?){1,12}\?$"),
    shape(ToThePerson, "Darf ich die Version anheben?", r"\b(?:soll(?:en|te|test)?|darf|dürfen|kannst|könntest|könnten sie|möchtest|möchten|willst|welche[nmrs]?)\b|\b(?:cuál|cuáles|qué (?:prefier|hago|versión)|debo|debería|quién|quieres|puedes|prefieres|sigo)|\b(?:quel|quelle|quels|quelles|lequel|laquelle|faut-il|dois-je|puis-je|peux-tu|pouvez-vous|peut-on|souhait|préfér|voulez|veux-tu)|哪|是否|希望我|要不要|どちら|どの|どれ|いかが"),
    shape(WhQuestion, "Which route do you want to take?", r"^(?:(?:so|and|but|or)[,:]? |[^.?!]*[,:;] )?(?:which|what|how|who|when|where|why)\b"),
    shape(Permission, "May I update those 38?", r"^(?:[^.?!]*[,:;] )?(?:may i|am i allowed|is it (?:ok|okay|fine)|darf ich|puis-je|go or no go)\b"),
    shape(Answers, "No, removed it.", r"^(?:yes|yep|no|nope|not|because|turns out|as it turn|it turn|neither|none|simple|simply|only|ja|nein|weil|nicht|sí|no,|porque|oui|non|parce|是|不是|因为|はい|いいえ)\b"),
    shape(KeepsOpen, "My proposal is the second one.", r"^(?:my|for|i'm asking|i ask|i lean|easy|either way|points?|options?)\b"),
    shape(KeepsOpen, "Si no tienes preferencia, haría la segunda.", r"^(?:si |en caso|de lo contrario|yo |haría|mi |por ahora|actualmente|las dos|ambas|ambos|wenn|falls|sonst|ansonsten|ich würde|mein|beides|beide|das|aktuell|derzeit|momentan|sinon|je |ma |mon |les deux|actuellement|pour l'instant|如果|否则|我建议|目前|もし|なお)"),
    shape(OffersMore, "Should the banner also show a number?", r"^(?:should|shall)\b[^?]*\b(?:also|too|as well)\b|\bnoch (?:ein|eine|einen|etwas)\b|\bencore\b"),
    shape(Offer, "Should the banner also show a number?", r"^(?:should|shall)\b[^?]*\b(?:also|too|as well)\b"),
];

/// Forms of work that goes on.
#[rustfmt::skip]
pub(super) const GOES_ON: &[Shape] = &[
    shape(NextStep, "The other five involve time zones, so I'll tackle them.", r"\b(?:i'll|i will|we'll) [a-z]+"),
    shape(NextStep, "Before calling it done I'm running the load test.", r"\bi(?:'m| am) (?:now |still |currently |just |already )?(?:[a-z]+)ing\b"),
    shape(NextStep, "It starts and will take screenshots now.", r"\band will [a-z]+\b|\bwill [^?]* (?:now|next|then)[.!]?$|\bcomes? (?:now|next)\b|\bit'll\b"),
    shape(NextStep, "Expect about 15 minutes.", r"^(?:expect|eta)\b|\bwill take (?:about|around|a|some|roughly|another|[0-9])|\bdauert noch\b|\bich melde mich\b|\bmientras tanto\b|\bsigue en marcha\b|\bprendra\b|\ben attendant\b|\bmeanwhile\b"),
    shape(NextStep, "3 of 8 run it, the remaining ones follow.", r"\b(?:keeps?|still) [a-z]+ing\b|\b(?:is|are) (?:building|compiling|deploying|processing)\b|\b(?:was|were|is|are|been) (?:queued|started|scheduled|triggered|launched)\b|\bin progress\b|\bthe (?:rest|others|remaining ones) follow\b"),
    shape(NextStep, "On to the next suspect.", r"^(?:on to|now for|moving on|up next|starting (?:with|on)|continuing)\b|[;,] (?:now )?(?:continuing|moving on|carrying on)\b"),
    shape(NextStep, "まず原因を調べます。", r"(?:調べ|確認し|進め|行い|始め|実行し|続け|見てみ)ます。?$|正在|稍后|马上"),
    shape(NotNext, "I'm asking since the two differ.", r"\bi(?:'m| am) (?:asking|assuming|guessing|leaning|thinking|wondering|missing|proposing|suggesting|using|happy|afraid|counting)\b|\bif (?:you|it|that|there|anything|something)\b[^?]*\bi'll\b"),
    shape(PartlyDone, "Half of the numbers are in.", r"\b(?:half (?:of|the)|most of|first (?:two|three|few|commit|part|step|half|batch|version|pass|draft|bug)|part (?:one|1|of)|phase|intermediate|so far|partly|not yet|(?:not|nothing) (?:run|committed|pushed|deployed|tested) yet|but not run)\b"),
    shape(EdAdjective, "Failed invoices are picked up.", r"^[a-z]+ed (?:[a-z]+ )?[a-z]+s (?:is|are|was|were|has|have|can|could|will|would|end|go|get|do|don't|may|must|need|use|come|stay|expire|live|wait|return|appear|show|contain|follow|run|take|fall|remain|keep|become)\b|^(?:failed|cached|expired|based|needed|related|supposed|compared (?:to|with)|provided|unrelated|interested|nested|shared|indeed|limited|advanced|unused|named|typed|unexpected|detailed|expected|recommended|suggested|proposed|missed|blocked|paused|red|speed|seed|feed|need|embed|proceed|exceed|deprecated|assumed)\b"),
    shape(Explains, "Sobald du filterst, fallen die Zeilen wieder heraus.", r"^(?:wenn|sobald|falls|weil|während|bevor|nachdem|seit|cuando|mientras|si|quand|lorsque|dès que)\b"),
    shape(Explains, "It is the place where a response is written.", r"\b(?:where|how|when|whose|whether) (?:an?|the|it|they|you)\b|^here(?:'s| is) how\b|\b(?:nothing was|wasn't|weren't|hasn't|haven't|not been|wird|werden)\b|^think of\b|^in (?:this|general|short)\b|^(?:short answer|the difference|in a nutshell)\b"),
];

pub(super) fn all() -> impl Iterator<Item = &'static Shape> {
    REPORTS.iter().chain(ASKS).chain(GOES_ON)
}

#[cfg(test)]
mod tests {
    use super::super::sentence_signs::SentenceSigns;
    use super::super::signs::Signs;
    use super::*;

    #[test]
    fn every_example_has_its_shape() {
        for shape in all() {
            let signs = SentenceSigns::new(shape.example, Signs::default());
            assert!(signs.has(shape.sign), "{:?}: {}", shape.sign, shape.example);
        }
    }
}
