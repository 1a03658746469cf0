//! The words that make a sentence say something. A phrase belongs here only if it is usual: rules for single messages do not carry
//! over to others (decision 0017).

use super::signs::Sign::{self, *};

/// What Claude did, as the first word of a sentence or after "I've".
macro_rules! did {
    () => {
        "(?:added|addressed|adjusted|applied|built|changed|cleaned up|closed|committed|completed|configured|converted|corrected|created|deleted|deployed|disabled|documented|enabled|extended|extracted|finished|fixed|implemented|improved|installed|integrated|introduced|merged|migrated|moved|optimi[sz]ed|patched|ported|published|pushed|refactored|released|removed|renamed|reordered|replaced|resolved|restored|reverted|rewrote|rewritten|set up|simplified|split|successfully|switched|tested|tightened|translated|updated|upgraded|verified|wired|wrote|written)"
    };
}

macro_rules! prepared {
    () => {
        "(?:analysis|exploration|investigation|plan|planning|research|review|phase|step|stage|part|half|first|draft|drafted)"
    };
}

pub(super) const PHRASES: &[(Sign, &str)] = &[
    (
        Request,
        r"\b(?:let me know|tell me) (?:which|what|how|whether|when|where|who|once|your|the)\b|(?:^|, )say (?:…|go|yes)",
    ),
    (
        Request,
        r"\b(?:let me know|tell me) if (?:(?:i should|you want me to|you'd like me to) (?:proceed|continue|go ahead|start)|i can (?:use|go|run|start|delete|remove|drop|push|merge|deploy|do|change|touch|proceed|continue|assume|rely)|i may|you agree|(?:it's|that's|this is) (?:ok|okay|fine|right|correct)|you're (?:ok|okay|fine|happy))",
    ),
    (
        Request,
        r"\bplease (?:confirm|provide|clarify|choose|pick|decide|specify|advise|approve|answer|reply|paste|share|send|tell (?:me|us)|grant)\b",
    ),
    (
        Request,
        r"\bi(?:'d| would|'ll| will)?(?: still)? need (?:your|you to|to know|to ask|more (?:information|details|context)|some (?:information|details|input)|a (?:few|decision|bit)|one|the following|an answer)\b",
    ),
    (
        Request,
        r"\b(?:waiting|awaiting|wait)(?: for)? your\b|\byour (?:call|decision|choice|approval|confirmation|input|go-ahead|pick|turn|move|verdict|say)\b",
    ),
    (Request, r"^(?:type|reply|answer|respond)(?: with)? (?:…|yes|no|a|b|1)\b|^(?:type|reply with) …"),
    (
        Request,
        r"\b(?:ich brauche|mir fehlt|mir fehlen|sag mir|nenne mir|bitte (?:gib|nenne|bestätige|wähle|schick|entscheide))\b",
    ),
    (
        Request,
        r"\bnecesito (?:que|saber|la|el|tu|una)\b|\bdime (?:qué|cuál|cómo|si )|(?:^|[,;:] )confirma\b|por favor (?:confirma|indica|elige)",
    ),
    (
        Request,
        r"\b(?:j'ai besoin (?:de|d')|merci de (?:me|confirmer|préciser)|veuillez|dis-moi (?:quel|quelle|comment|ce que))",
    ),
    (
        Request,
        r"请(?:提供|确认|选择|告诉我(?:您|你|要|哪|是否)|说明|指定)|教えてください|選んでください|ご確認ください|指定してください",
    ),
    (
        WeakRequest,
        r"\bplease (?:add|run|check|export|put|create|upload|open|set|enable|install|review|log in|sign in|let me know|make sure)\b|\bbitte (?:prüfe|füge|führe|lege|starte)|\bpor favor\b|\bs'il (?:te|vous) plaît\b|てください",
    ),
    (
        Blocked,
        r"^(?:blocked|stuck)\b|\bi(?:'m| am) (?:blocked|stuck)\b|\b(?:can't|cannot|can not|couldn't|unable to|not able to) (?:continue|proceed|go on|access|push|log in|connect|do this|do that|go any further|move forward|complete this without)\b",
    ),
    (
        Blocked,
        r"\b(?:don't|do not) have (?:access|permission|the (?:rights|credentials|permission))|\bhas no (?:rights|permission)|\b(?:i|we) (?:can't|cannot) \w+ (?:it |this |that )?without\b|\bneeds? a login(?:[^ a-z]|$)|\bi need (?:access|permission|credentials|the)\b",
    ),
    (
        Blocked,
        r"nicht weiter|keinen zugang|keinen zugriff|fehlt (?:mir )?(?:noch )?de[rn] zugang|no tengo acceso|no puedo (?:continuar|seguir|acceder)|pas accès|ne peux pas (?:continuer|accéder)|无法继续|没有权限|无法访问|アクセスできません|続行できません|権限がありません",
    ),
    (
        SoftClose,
        r"\blet me know (?:if|in case|should)\b|\bi'm here if\b|\bjust (?:let me know|ask|tell me|say)\b|\bfeel free\b|\bping me (?:if|when)\b|\b(?:happy|glad) to\b|\b(?:don't|do not) hesitate\b|\bsay the word\b|^i can (?:also|go)\b|\bi can also\b|\byou're welcome\b|\breach out\b|\b(?:shout|holler|drop me a line)\b|^if you(?:'d| would) (?:like|prefer|rather)\b|^if you (?:want|prefer|need|have any)\b|\bhere if you need\b",
    ),
    (
        SoftClose,
        r"^(?:if|should) (?:you|anything|something|there)\b.*(?:let me know|tell me|\bask\b|i can|i'll|i could|happy|glad|feel free)",
    ),
    (
        SoftClose,
        r"bescheid|melde dich|melden sie sich|lass(?:en sie)?(?: es)? mich wissen|gerne? (?:helfe|erkläre|passe)|(?:helfe|erkläre|passe) (?:ich )?(?:dir )?gern|avísame|avísenme|dímelo|no dudes|hazme saber|quedo atento|si necesitas|n'hésite|(?:dis|dites)-moi si|faites?-le-moi savoir|fais-moi signe",
    ),
    (
        SoftClose,
        r"随时|(?:如有|如果).*(?:告诉我|联系|说一声)|請告訴我|お知らせください|お申し付けください|ご連絡ください|お気軽に|言ってください",
    ),
    (
        NextStep,
        r"^(?:next|now|then|first|after that|from here|ok|okay|alright|great|good),? (?:i'll|i will|i'm|i am|let me|let's|up|moving|on to)\b|\bmy next step\b|\b(?:i'll|i will) (?:\w+ )?(?:next|now)\b",
    ),
    (
        NextStep,
        r"^(?:i'll|i will|i'm (?:now |going |working|still|trying|looking|running|waiting|currently)|i am (?:now |going |working|still|trying|looking|running|waiting|currently)|let me (?:\w+ )?(?:look|check|see|try|read|run|start|find|think|take|verify|fix|first|now|investigate|continue|search|examine|inspect|explore|dig|write|add|update|create|test|make)|let's|moving on|starting|trying|waiting for|continuing|proceeding|running|working on|checking|looking|stand by|one moment)",
    ),
    (
        NextStep,
        r"(?:[;,:-]|—|–) ?(?:and )?(?:i'll|i will) (?:look|check|report|continue|come|begin|start|fix|do|write|run|add|tackle|summari[sz]e|have|get|move)\b|\bwill (?:come back|report back|continue|check back|update you|follow up)\b|\b(?:i'll|i will) (?:report|come back|continue|check back|summari[sz]e|update you|let you know|keep you)\b",
    ),
    (
        NextStep,
        r"\b(?:is|are) (?:still |now )?(?:in progress|underway|under way|working on (?:this|it))\b|\b(?:is|are) (?:still |now )?running(?: in| on|[.,;]|$)|\bin the background\b|\bnow moving on\b|\bkicked off\b",
    ),
    (
        NextStep,
        r"als nächstes|^ich (?:sehe|schaue|werde|prüfe|starte|beginne|lese|suche|schreibe|mache|führe)\b|^nun |^jetzt (?:schreibe|prüfe|mache|schaue|kommt)|a continuación|^ahora (?:voy|empiezo|paso|reviso|sigo|toca|miro|hago|compruebo|ejecuto|estoy|pruebo|busco)\b|^voy a|\bvoy a\b|^je (?:vais|regarde|vérifie|commence|lance|continue)|^maintenant|^ensuite",
    ),
    (NextStep, r"接下来|下一步我|^我先|^我(?:将|会|来|现在)|^现在我|^次に|^次は|^まず|これから|します。?$"),
    (
        Done,
        r"^(?:all |it's |it is |that's |everything(?:'s| is) |we're |and )?(?:now )?(?:done|finished|complete|completed|all set|ready to go)\b",
    ),
    (
        Done,
        concat!(
            "^(?:good catch\\W+|great\\W+|ok(?:ay)?\\W+|yes\\W+|sorry\\W+)?(?:successfully |also |just |then |both |all )?",
            did!(),
            "\\b"
        ),
    ),
    (
        Done,
        concat!(
            "\\bi(?:'ve| have)?(?: now| just| also| already| then| successfully)? (?:fully |successfully )?",
            did!(),
            "\\b"
        ),
    ),
    (State, concat!(" and ", did!(), "\\b.*[^?]$|, ", did!(), " .* and ", did!())),
    (
        State,
        r"^(?:it's|that's|this is) (?:now |all )?(?:fixed|done|resolved|complete|finished|back|live|gone|working|ready|in place|deployed|merged)\b|^ready (?:for|to) (?:review|merge|test)",
    ),
    (
        State,
        r"\b(?:is|are|was|were|has been|have been|looks|all) (?:now |all |fully |successfully |already |both )?(?:added|addressed|applied|back|clean|closed|committed|complete|completed|consistent|converted|corrected|created|deployed|done|finished|fixed|gone|green|identical|implemented|in place|installed|live|made|merged|migrated|moved|passing|published|pushed|ready|refactored|released|removed|renamed|replaced|resolved|restored|set up|split up|up to date|updated|upgraded|up|valid|verified|written|wired)\b",
    ),
    (
        State,
        r"\b(?:tests?|checks?|files?|suites?|specs?|ci|build|lint|clippy|types?|pipeline|everything|tsc)\b[^.?!]*\b(?:pass(?:es|ed)?|green|succeed(?:s|ed)?|match|compiles|clean|without (?:errors|warnings)|no (?:errors|warnings))\b",
    ),
    (
        Done,
        r"\b(?:everything|all of it)(?: all)? works\b|\b(?:it|that|this) (?:all )?works (?:now|again|as|fine|like|in|on|for|with|well)\b|^(?:it |this )?works(?:[.,:!]|$| (?:now|again|fine))|\bworks? (?:now|again)\b|\bno failures?\b|\b(?:is|are) (?:now )?stable\b|\brunning green\b|\bnow works\b|\bruns again\b|\bran successfully\b|\bhave been (?:made|done)\b|\bno (?:functional|behaviou?r) changes?\b|\bno behaviou?r changed\b|\bi(?:'ve)? (?:ran|tested|verified)\b",
    ),
    (
        Done,
        r"^(?:what (?:i (?:changed|did)|changed(?:[^a-z ]|$| (?:in|since|and|at))|has changed)|here(?:'s| is) what (?:i (?:changed|did)|changed)|changes(?: made)?|the (?:fix|change|script|code|result|report) is in)\b",
    ),
    (State, r"^(?:the |your )?[^.?!,;:]+ (?:now|are now|is now) \w+"),
    (
        Done,
        r"\b(?:fertig|erledigt|abgeschlossen|umgesetzt|behoben|alles grün|gepusht|(?:ist|sind) (?:jetzt|nun|wieder) \w+|(?:sind|ist) (?:jetzt |wieder )?grün)\b|^ich habe\b.*(?:t|en)\b|tests? (?:laufen|sind|bestehen|läuft)|läuft (?:jetzt |wieder )?durch|funktioniert (?:jetzt|wieder)",
    ),
    (
        Done,
        r"^(?:listo|hecho|terminado|completado)\b|\bhe (?:terminado|corregido|añadido|actualizado|creado|implementado|eliminado|cambiado|arreglado|agregado|movido|renombrado|completado)\b|(?:tests|pruebas) (?:ya )?pasan|ha desaparecido|(?:resuelto|corregido|arreglado)|funciona (?:correctamente|ahora)|\best(?:á|a) (?:lista|listo|terminad[ao])",
    ),
    (
        Done,
        r"c'est (?:fait|terminé|bon|prêt)|^terminé|^(?:fait|fini)\b|j'ai (?:terminé|corrigé|ajouté|mis à jour|créé|implémenté|supprimé|modifié|déplacé|renommé|fini)|tests? passent|tout est (?:en place|prêt)|est (?:maintenant )?(?:résolu|corrigé)|est (?:terminée?|prête?)",
    ),
    (
        Done,
        r"已(?:经)?(?:完成|修复|更新|添加|实现|解决|创建|删除|部署|提交|修改)|完毕|完成了|修复了|更新了|添加了|实现了|测试(?:都|全部|均)?(?:已)?通过|运行正常|搞定",
    ),
    (
        Done,
        r"完了しました|しました。?$|できました|テスト.*(?:通って|成功|パス)|完了です|直しました|完成しました",
    ),
    (
        Feedback,
        r"\b(?:let me know|tell me) (?:what you think|how (?:it|that|this|they)\b|your thoughts|the results?|your feedback)|\bwhat do you think\b",
    ),
    (
        Past,
        r"\bi(?:'ve| have)?(?: \w+ly| now| just| also| already| then)? (?:put|cut|set|turned)\b|\band [a-z]+ed (?:the|it|them|all|a|an|…)\b",
    ),
    (
        State,
        r"^(?:the|it|both|all|your|each|every|this|that)\b[^?]* now(?:[.!:;,]|$)|\b(?:went|dropped|fell|rose|grew|reduced|down|up|improved) from\b.* to\b",
    ),
    (
        Past,
        r"^(?:\w+ ){1,3}(?:fixed|done|resolved|reverted|completed|pushed|merged|deployed|updated|added|removed|renamed)(?:[.!:;,]|$)",
    ),
    (
        Participle,
        concat!(
            "^(?:[^ ,.:;?!]+ ){1,5}",
            did!(),
            r"\b(?:[.,;:!)]|$| (?:and|as|at|by|for|from|in|into|on|onto|to|with|without)\b)|^(?:[^ ,.:;?!]+ ){1,3}(?:refreshed|regenerated|rebased|bumped|dropped|swapped|shipped|tagged|adapted|covered|touched|silenced|archived)(?:[.,;:!)]|$| )"
        ),
    ),
    (
        WholeSentence,
        r"^(?:the|a|an|it|he|she|they|we|you|i|this|that|these|those|there|your|my|our|its|their|each|every|any|no|some|what|which|who|users?|people|in|at|on|for|with|from|by|as|then|so|but|and|or|not|only|nothing)\b|^(?:hence|thus|therefore|because|since)\b|\b(?:isn't|aren't|wasn't|weren't|doesn't|don't|won't|can't|cannot) |\b(?:has|have|had|will|would|can|could|may|must) \w+|\b(?:is|are|be|being|gets?) (?:only |also |then |often |usually |still )?[a-z]+ed\b",
    ),
    (
        State,
        r"\b(?:it's|is|are|was|were|has been|have been) (?:now |all |both |fully )?(?:replaced|rebased|regenerated|refreshed|rewritten|adapted|swapped|covered|archived|plugged|sealed|solved|sorted|settled|shipped|reverted|rolled (?:back|out)|tagged|wired up|cleaned up)\b|\beverything\b[^.?!,;]* is in[.!]?$",
    ),
    (
        State,
        r"\b(?:cut|cuts|shrank|shrunk|shrinks|sped up|slimmed|brought|brings|halved|trimmed)\b[^?]*\b(?:from|to|by)\b[^?]*\d|^[^?]*\bnow[.!]?$|\d[^?,;]* (?:instead of|down from|up from) [^?]*\d|\bdown to \d",
    ),
    (
        State,
        r"^\d[\d,.]* (?:tests?|specs?|checks?|cases|assertions)\b[^?]*\b(?:0|no|zero) (?:failures?|failed|errors?|regressions?)\b|\b(?:reports?|shows?|found|finds?) no (?:problems|issues|regressions|warnings|changes|differences|drift|diff|errors|failures|findings|leaks)\b|\bwithout (?:conflicts|problems|issues|a hitch)\b|\b(?:came|comes|come) back (?:clean|green)\b|\b(?:is|are|stays?|stayed) (?:flat|happy)\b",
    ),
    (
        Done,
        r"\b(?:went|ran) through\b|\b(?:takes|took) care of (?:it|that|this)\b|\b(?:does|did) the trick\b|\bthat (?:did|fixes|fixed|solves|solved) it\b|^(?:sorted|solved|shipped|nailed it)\b|^got (?:it|that|this|them|everything|both|all)\b[^?]*\b(?:working|running|passing|compiling|building)\b",
    ),
    (
        Done,
        r"^here(?:'s| is| are) [^?]*\byou (?:asked|wanted|requested|needed|were looking|had asked)\b|^here(?:'s| is| are) (?:the|your) (?:final|finished|updated|complete|fixed|revised|corrected|working)\b",
    ),
    (
        NextStep,
        r"^(?:carrying on|digging (?:in|into|deeper)|going on with|[a-z]+ing (?:that|this|it|them|those) now|picking up (?:with|where)|turning to|heading (?:to|into)|onto)\b",
    ),
    (
        PartlyDone,
        r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|more|some|a few|several) (?:more |others? )?(?:to go|left to|remain)\b|\b(?:[0-9]+|one|two|three|four|five|six|seven) to do\b",
    ),
    (
        Done,
        r"\b(?:set-?up|migration|refactor(?:ing)?|upgrade|clean-?up|conversion|renam(?:e|ing)|work|task|installation|deployment|release|roll-?out|port|rewrite|import|export) (?:is |are |was )?(?:now )?(?:complete|completed|finished|done)\b",
    ),
    (
        State,
        r"\bworks (?:in the whole|in all|on all|everywhere|end to end|across|without|too\b|as (?:before|expected))|, and (?:the|it|everything|all|both|each)\b[^.?!]*\b(?:verif(?:y|ies)|compiles?|builds?|pass(?:es)?|starts?|loads?|works?|runs?|validates?|succeeds?)[.!]?$|\b\d[\d,]* files? (?:changed|touched|modified|updated|formatted)\b",
    ),
    (
        Done,
        r"^nothing (?:else )?(?:is |was )?(?:left|to (?:change|do|fix))\b|\bi left (?:a|the) (?:comment|note|todo)\b|^(?:all|everything) (?:that )?you (?:listed|asked for|mentioned|described) is\b",
    ),
    (
        Done,
        r"(?:通り|終わり|直り|できあがり|済み)ました|已(?:经)?把.*(?:改|换|移|拆|合|设)|(?:都|全部|均)?通过了",
    ),
    (
        Blocked,
        r"\bwithout (?:it|that|this|them|these|those|one|a|an|the|your)\b[^.?!]* (?:i|we) (?:can't|cannot|can not|won't be able to|am not able to)\b",
    ),
    (
        NextStep,
        r"^(?:add|apply|build|chang|check|clean|compar|convert|fix|install|mov|read|re-?run|remov|renam|replac|retry|revert|runn|search|split|switch|test|try|updat|verify|writ)ing (?:it|that|this|them|those|these|the|a|an|my|all|both|each|again|now)\b(?:[^.?!,]*\b(?:now|next|again|before|first|then|to see)\b|(?: \S+){0,4}(?:\.|…)?$)",
    ),
    (NextStep, r"^(?:next|now|then): |^on to (?:the|my|step|phase|part)\b|^next up\b"),
    (
        Explains,
        r"^(?:when|whenever|once|if|after|before|while|because|since|as soon as|as long as|an? |each time|every time|until|why|how)\b|\b(?:yesterday|today|last (?:week|month|year)|by default|by mistake|at (?:login|logout|runtime|start|startup|build time)|before (?:the|it)|means? that|(?:since|in) (?:version|january|february|march|april|may|june|july|august|september|october|november|december|v?[0-9]+\.[0-9]|20[0-9][0-9])|isn't needed|as an? static|usually|always|never|picks it)\b|\b(?:added|removed|changed|introduced|released|updated) (?:in|by|at|since)\b|\bdeclared\b|\bcreated (?:at|by|when|and)\b",
    ),
    (
        NoResult,
        r"(?:^|\b(?:i|we)(?:'ve| have)? |\band |, )(?:[a-z]+ly |also |just |then |now |already )?(?:analy[sz]ed|asked|based|believed|compared|considered|described|discovered|checked|examined|expected|explained|explored|figured|followed|guessed|happened|hoped|identified|inspected|intended|interrupted|introduced in|investigated|launched|learned|listed|located|looked|measured|estimated|missed|narrowed|need|needed|noticed|observed|opened|planned|prepared|preferred|queued|reached|reali[sz]ed|recommended|related|reproduced|researched|reviewed|scanned|scheduled|searched|skipped|spawned|started|stopped|suggested|suspected|traced|tried|triggered|waited|wanted|wondered)\b|\bto be \w+ed\b|\bstill\b",
    ),
    (
        PartlyDone,
        concat!(
            "\\b",
            prepared!(),
            "\\b[^.]*\\b(?:complete|completed|done|finished|ready)\\b|\\b(?:completed|finished|done|did)(?: with)? (?:the |my |a )?(?:\\w+ )?",
            prepared!(),
            "\\b"
        ),
    ),
    (
        PartlyDone,
        r"\b(?:haven't|have not|didn't|did not) (?:run|ran|commit|push|appl|chang|touch|merge|deploy|start)|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|half) of (?:the )?(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b|\bexcept the icon\b|(?:^|\b(?:the|one|two|three|four|five|few|some|with|still|are|is|[0-9]+) )remaining\b",
    ),
    (
        Offer,
        r"\b(?:would|do) you (?:also |maybe |perhaps |even |still )?(?:like|want|need) (?:me to|to|docs|tests|an?|the|some|that|this)\b|\b(?:would|do) you (?:also|maybe|perhaps|even) (?:like|want|need)\b|^(?:do you )?want (?:me to|to|a|docs|tests)\b|^(?:shall|should|can|may) i\b|\b(?:also|as well|too)\?|\bi also\b|^anything (?:else|more)\b|^something else\b|\bwhile i'm (?:at it|here)\b|^ready to ",
    ),
    (
        OffersMore,
        r"\b(?:also|as well|too|the same|another|follow-up|in addition|on top)\b|^(?:do you )?want (?:a|an|docs|tests|me to (?:add|write|do) (?:a|an|docs|tests|the same))\b|^would you like (?:a|an|docs|tests|some)\b|\bauch\b|también|aussi|还要|も(?:追加|作成)",
    ),
    (
        Offer,
        r"^soll ich\b|^möchtest du|^möchten sie|quieres que|^desea que|gustaría que|te gustaría|(?:veux-tu|voulez-vous|souhaitez-vous|souhaites-tu) que|^dois-je|(?:需要|要不要|要|想).*我|需要.*吗|ましょうか",
    ),
    (Decision, r"\bor\b|\boder\b| o (?:que |debo |la |el |lo |los )| ou |还是|それとも|どちら"),
    (
        Decision,
        r"\b(?:proceed|continue|go ahead|move on|start|begin|run (?:it|them|this)|turn it|overwrite|instead|okay|ok with|fine with|approve|confirm|delete|drop|force|create it|apply (?:it|them|this))\b|\bdo (?:it|this|that)(?: now)?\?|\b(?:continúe|proceda|fortfahren|weitermachen|anfangen|loslegen|eigenen branch|continuer|procéder|commencer)\b|继续|执行|続行|実行|上書き|削除",
    ),
    (
        Addressed,
        r"\b(?:you|your|yours|i|we|okay|ok|correct|me)\b|\b(?:ich|du|sie|dir|dein|soll|sollen|darf)\b|\b(?:quieres|prefieres|puedes|debo|tienes|desea|te)\b|\b(?:je|tu|vous|dois)\b|您|你|我|ですか|でしょうか|ますか",
    ),
    (
        Rhetorical,
        r"^(?:but |so |and |now )?(?:why|how come|how (?:does|did|do|is|was|can (?:this|that|it))|what (?:went|happens|happened|causes|caused|changed|changes|if|was (?:wrong|the)|does (?:this|that|it|[^?]* (?:do|mean|return)\b)|did (?:i|we|it|this|that)|makes)|what(?:'s| is| are) (?:going on|happening|wrong|new|left|missing|next|different|an? |this|that|it\b|the (?:problem|cause|reason|difference|issue|catch|point|result|effect|upshot|takeaway|fix|solution|trick|deal|impact|benefit))|where (?:does|did|do) (?:the|all|that|this|those|these|it|they) (?:\w+ )?(?:go|time|memory|error|bug|difference)|where(?:'s| is) the (?:time|catch|bug|error|problem|bottleneck)|the (?:result|reason|cause|problem|catch|fix|effect|upshot|difference)|warum|wieso|weshalb|por qué|pourquoi|为什么|なぜ)",
    ),
    (
        KeepsOpen,
        r"^(?:right now|currently|at the moment|today|if|otherwise|once|either|i'd|i would|i see|i could|i assume|i think|i can|i don't|i haven't|i'm not|i wasn't|my (?:preference|suggestion|recommendation)|personally|in the meantime|until then|there (?:are|is)|both|without|the (?:default|repo|first|second|latter|former)|it(?:'s| is| has| would| will| can))\b",
    ),
];
